// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/schemas.hpp"

namespace nvspan::reader {
namespace {

// Leaves of a struct that is read from zeros.
class GroupFields final : public trace::PayloadVisitor {
 public:
  explicit GroupFields(std::vector<GroupField>& fields) : fields_(fields) {}

  bool value(std::string_view name, const trace::PayloadValue& value) override {
    constexpr std::size_t most_fields = 256;
    if (fields_.size() >= most_fields) return false;
    const std::uint64_t purpose = value.flags & nvtx::entry_flag::purpose_mask;
    if (purpose == nvtx::entry_flag::timestamp || value.kind == trace::PayloadValue::Kind::text ||
        value.kind == trace::PayloadValue::Kind::bytes) {
      return true;
    }
    GroupField field;
    field.type = value.type;
    field.offset = value.offset;
    field.name = path(name);
    if (value.entry != nullptr) field.unit = value.entry->unit;
    fields_.push_back(std::move(field));
    return true;
  }
  bool begin(std::string_view name, bool) override {
    const std::string inner = path(name);
    paths_.push_back(inner);
    numbers_.push_back(0);
    return true;
  }
  bool end(bool) override {
    paths_.pop_back();
    numbers_.pop_back();
    return true;
  }

 private:
  std::string path(std::string_view name) {
    std::string path = paths_.empty() ? std::string() : paths_.back();
    if (name.data() == nullptr) {
      path += '[' + std::to_string(numbers_.empty() ? 0 : numbers_.back()++) + ']';
    } else {
      if (!path.empty()) path += '.';
      path += name;
    }
    return path;
  }

  std::vector<GroupField>& fields_;
  std::vector<std::string> paths_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

std::string_view ReadSchemas::string(std::uint64_t, std::uint64_t handle) const {
  const auto found = strings.find(handle);
  return found == strings.end() ? std::string_view() : recording_.text(found->second);
}

std::string_view ReadSchemas::category(std::uint64_t domain, std::uint32_t number) const {
  const auto found = categories.find({static_cast<std::uint32_t>(domain), number});
  return found == categories.end() ? std::string_view() : recording_.text(found->second);
}

std::vector<GroupField> fields_of_group(const trace::SchemaTable& table, std::uint64_t domain,
                                        std::uint64_t schema, std::uint64_t& size) {
  std::vector<GroupField> fields;
  constexpr std::uint64_t most_bytes = 64 * 1024;
  size = table.layout(domain, schema).size;
  if (size == 0 || size > most_bytes) return fields;
  const std::string zeros(static_cast<std::size_t>(size), '\0');
  core::PagePool pool;
  trace::PayloadDecoder decoder(table, pool);
  GroupFields visitor(fields);
  const trace::PayloadPiece piece{schema, zeros};
  if (decoder.decode({domain, trace::PayloadNames(), visitor}, &piece, 1) !=
      trace::PayloadResult::whole) {
    fields.clear();
  }
  if (fields.size() == 1 && fields[0].name == "value") fields[0].name.clear();
  return fields;
}

}  // namespace nvspan::reader
