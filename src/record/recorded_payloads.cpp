// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/recorded_payloads.hpp"

#include <algorithm>

namespace nvspan {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t head = 3;  // schema, size as given, size kept

// Calls `use` with each piece: its schema, the size it had, its bytes. As far as they go.
template <typename Use>
void for_each_piece(const void* bytes, std::size_t size, Use&& use) {
  const auto* at = static_cast<const char*>(bytes);
  while (size >= head * word) {
    std::uint64_t words[head];
    std::memcpy(words, at, sizeof words);
    at += sizeof words;
    size -= sizeof words;
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(words[2], size));
    use(words[0], words[1], std::string_view(at, kept));
    const std::size_t padded = std::min((kept + word - 1) / word * word, size);
    at += padded;
    size -= padded;
  }
}

// Leaves of a struct that is read from zeros.
class GroupFields final : public PayloadVisitor {
 public:
  explicit GroupFields(std::vector<GroupField>& made) : made_(made) {}

  bool value(std::string_view name, const PayloadValue& value) override {
    constexpr std::size_t most_fields = 256;
    if (made_.size() >= most_fields) return false;
    const std::uint64_t purpose = value.flags & payload_entry::purpose_mask;
    if (purpose == payload_entry::timestamp || value.kind == PayloadValue::Kind::text ||
        value.kind == PayloadValue::Kind::bytes) {
      return true;
    }
    GroupField field;
    field.type = value.type;
    field.offset = value.offset;
    field.name = path(name);
    if (value.entry != nullptr) field.unit = value.entry->unit;
    made_.push_back(std::move(field));
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
    std::string made = paths_.empty() ? std::string() : paths_.back();
    if (name.data() == nullptr) {
      made += '[' + std::to_string(numbers_.empty() ? 0 : numbers_.back()++) + ']';
    } else {
      if (!made.empty()) made += '.';
      made += name;
    }
    return made;
  }

  std::vector<GroupField>& made_;
  std::vector<std::string> paths_;
  std::vector<std::uint64_t> numbers_;
};

class NoNames final : public PayloadNames {
 public:
  std::string_view string(std::uint64_t, std::uint64_t) const override { return {}; }
  std::string_view category(std::uint64_t, std::uint32_t) const override { return {}; }
};

}  // namespace

std::string_view ReadSchemas::text(std::int32_t number) const {
  const auto& texts = recording_.strings();
  const auto index = static_cast<std::size_t>(number);
  return number < 0 || index >= texts.size() ? std::string_view() : texts[index];
}

std::string_view ReadSchemas::string(std::uint64_t, std::uint64_t handle) const {
  const auto found = strings.find(handle);
  return found == strings.end() ? std::string_view() : text(found->second);
}

std::string_view ReadSchemas::category(std::uint64_t domain, std::uint32_t number) const {
  const auto found = categories.find({static_cast<std::uint32_t>(domain), number});
  return found == categories.end() ? std::string_view() : text(found->second);
}

PayloadResult RecordedPayloads::read(std::uint32_t process, std::uint32_t local_domain,
                                     const void* bytes, std::size_t size, PayloadVisitor& visitor) {
  const auto& schemas = recording_.processes()[process].schemas;
  if (schemas == nullptr) return PayloadResult::unknown;
  if (decoders_.size() <= process) decoders_.resize(process + 1);
  auto& decoder = decoders_[process];
  if (decoder == nullptr) decoder = std::make_unique<PayloadDecoder>(schemas->table, pool_);
  constexpr std::size_t most_pieces = 256;
  PayloadPiece pieces[most_pieces];
  std::size_t count = 0;
  for_each_piece(bytes, size, [&](std::uint64_t schema, std::uint64_t, std::string_view data) {
    if (count < most_pieces) pieces[count++] = PayloadPiece{schema, data};
  });
  return decoder->decode(local_domain, pieces, count, *schemas, visitor, true);
}

std::uint64_t payloads_not_kept(const WalkPayload& payload) {
  if (!payload.present || payload.bytes == nullptr) return 0;
  std::uint64_t count = 0;
  for_each_piece(payload.bytes, payload.bits,
                 [&](std::uint64_t, std::uint64_t given, std::string_view data) {
                   if (data.size() < given) ++count;
                 });
  return count;
}

std::vector<GroupField> fields_of_group(const SchemaTable& table, std::uint64_t domain,
                                        std::uint64_t schema, std::uint64_t& size) {
  std::vector<GroupField> made;
  constexpr std::uint64_t most_bytes = 64 * 1024;
  size = table.layout(domain, schema).size;
  if (size == 0 || size > most_bytes) return made;
  const std::string zeros(static_cast<std::size_t>(size), '\0');
  PagePool pool;
  PayloadDecoder decoder(table, pool);
  GroupFields visitor(made);
  const PayloadPiece piece{schema, zeros};
  if (decoder.decode(domain, &piece, 1, NoNames(), visitor) != PayloadResult::whole) made.clear();
  if (made.size() == 1 && made[0].name == "value") made[0].name.clear();
  return made;
}

}  // namespace nvspan
