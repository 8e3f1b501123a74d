// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/payload_columns.hpp"

#include <cstring>

namespace nvspan::reader {

using Kind = trace::PayloadValue::Kind;

void FlatFields::restart() {
  path_.clear();
  lengths_.clear();
  lists_ = 0;
  list_.clear();
  json_.restart();
}

bool FlatFields::value(std::string_view name, const trace::PayloadValue& value) {
  if (lists_ != 0) return json_.value(name, value);
  const std::size_t before = path_.size();
  if (before != 0) path_ += '.';
  path_ += name;
  FieldValue field;
  if (!wants(path_)) {
    path_.resize(before);
    return true;
  }
  if (value.label.data() != nullptr) {
    field = text(value.label);
  } else if (value.kind == Kind::text) {
    field = text(value.text.data() == nullptr ? std::string_view("") : value.text);
  } else if (value.kind == Kind::bytes) {
    list_.clear();
    list_.add_hex(value.text);
    field = text(std::string_view(list_.data(), list_.size()));
  } else {
    field.kind = value.kind;
    std::memcpy(&field.bits, &value.count, sizeof field.bits);
  }
  const bool goes_on = add(path_, field);
  path_.resize(before);
  return goes_on;
}

bool FlatFields::begin(std::string_view name, bool is_list) {
  if (lists_ != 0) {
    ++lists_;
    return json_.begin(name, is_list);
  }
  lengths_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += name;
  if (!is_list) return true;
  lists_ = 1;
  list_.clear();
  json_.restart();
  return json_.begin({}, true);
}

bool FlatFields::end(bool is_list) {
  if (lists_ > 1) {
    --lists_;
    return json_.end(is_list);
  }
  bool goes_on = true;
  if (lists_ == 1) {
    lists_ = 0;
    json_.end(true);
    if (wants(path_)) {
      goes_on = add(path_, text(std::string_view(list_.data(), list_.size())));
    }
  }
  path_.resize(lengths_.back());
  lengths_.pop_back();
  return goes_on;
}

class PayloadColumns::Collector final : public FlatFields {
 public:
  Collector(Recording& recording, core::PagePool& pool, PayloadColumns& columns)
      : FlatFields(pool), recording_(recording), columns_(columns) {}

  void at(std::uint64_t row) {
    restart();
    row_ = row;
  }

 protected:
  std::uint64_t keep(std::string_view text) override {
    return static_cast<std::uint64_t>(recording_.intern(text));
  }
  bool add(const std::string& name, const FieldValue& value) override {
    const auto found = columns_.numbers_.find(name);
    std::size_t number = 0;
    if (found != columns_.numbers_.end()) {
      number = found->second;
    } else {
      if (columns_.fields_.size() >= most_fields) {
        ++columns_.left_out_;
        return true;
      }
      number = columns_.fields_.size();
      columns_.numbers_.emplace(name, number);
      columns_.fields_.emplace_back().name = name;
    }
    Field& field = columns_.fields_[number];
    if (!field.rows.empty() && field.rows.back() == row_) {
      field.values.back() = value;  // the last of that name counts
      return true;
    }
    field.rows.push_back(row_);
    field.values.push_back(value);
    return true;
  }

 private:
  Recording& recording_;
  PayloadColumns& columns_;
  std::uint64_t row_ = 0;
};

template <typename Table>
void PayloadColumns::read(Recording& recording, const Table& table,
                          const std::vector<std::uint8_t>& bytes) {
  core::PagePool pool;
  RecordedPayloads payloads(recording);
  Collector collector(recording, pool, *this);
  for (std::size_t row = 0; row < table.site.size(); ++row) {
    if (table.payload_bytes[row] == 0) continue;
    const std::uint64_t at = table.payload[row];
    const std::uint32_t size = table.payload_bytes[row];
    if (at > bytes.size() || size > bytes.size() - at) continue;
    collector.at(row);
    const std::uint32_t process = recording.threads()[table.thread[row]].process;
    const trace::PayloadResult result =
        payloads.read(process, recording.sites()[table.site[row]].local_domain, bytes.data() + at,
                      size, collector);
    if (result != trace::PayloadResult::whole && result != trace::PayloadResult::unknown)
      ++refused_;
  }
}

PayloadColumns::PayloadColumns(Recording& recording, const RangeTable& rows,
                               const std::vector<std::uint8_t>& bytes) {
  read(recording, rows, bytes);
}

PayloadColumns::PayloadColumns(Recording& recording, const MarkTable& rows,
                               const std::vector<std::uint8_t>& bytes) {
  read(recording, rows, bytes);
}

const PayloadColumns::Field* PayloadColumns::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &fields_[found->second];
}

}  // namespace nvspan::reader
