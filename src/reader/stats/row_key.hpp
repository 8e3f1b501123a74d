// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What rows of statistics are told apart by.

#pragma once

#include "reader/scan/payloads.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/tables/payload_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

struct RowKey {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
  friend bool operator==(const RowKey& x, const RowKey& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};
struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const noexcept {
    std::uint64_t hash = key.a * 0x9E3779B97F4A7C15u ^ key.b * 0xC2B2AE3D27D4EB4Fu ^ key.c;
    hash ^= hash >> 32;
    return static_cast<std::size_t>(hash * 0x9E3779B97F4A7C15u);
  }
};

// What a row is of, beside its name.
struct RowGroup {
  GroupBy by;
  std::uint32_t thread, process;
  std::uint64_t payload;
  std::uint8_t payload_type;
};

inline RowKey row_key(const ReadSite& site, RangeKind kind, const RowGroup& group) {
  RowKey key{std::uint64_t{site.domain} << 3 | std::uint64_t{site.backward} << 2 |
                 static_cast<std::uint64_t>(kind),
             static_cast<std::uint64_t>(static_cast<std::int64_t>(site.name)) << 8, 0};
  switch (group.by) {
    case GroupBy::name:
      break;
    case GroupBy::thread:
      key.c = group.thread;
      break;
    case GroupBy::process:
      key.c = group.process;
      break;
    case GroupBy::category:
      key.c = site.category;
      break;
    case GroupBy::payload:
      key.b |= group.payload_type;
      key.c = group.payload;
      break;
    case GroupBy::field:
    case GroupBy::device:
    case GroupBy::stream:
      key.c = group.payload;
      break;
  }
  return key;
}

inline void describe_row(AggregateRow& row, const ReadSite& site, RangeKind kind,
                         const RowGroup& group) {
  row.domain = site.domain;
  row.name = site.name;
  row.kind = kind;
  row.backward = site.backward;
  row.is_others = site.is_others;
  row.is_resumable = site.stretch != StretchKind::none;
  if (group.by == GroupBy::thread) row.thread = group.thread;
  if (group.by == GroupBy::process || group.by == GroupBy::thread) row.process = group.process;
  if (group.by == GroupBy::category) {
    row.category = site.category;
    row.category_name = site.category_name;
  }
  if (group.by == GroupBy::payload) row.payload_type = group.payload_type;
  if (group.by == GroupBy::payload || group.by == GroupBy::field) row.payload = group.payload;
  if (group.by == GroupBy::device || group.by == GroupBy::stream) {
    row.lane = static_cast<std::int64_t>(group.payload);
  }
}

// The values of one field of payloads, numbered as they come.
class FieldGroups final : public FlatFields {
 public:
  FieldGroups(const Recording& recording, core::PagePool& pool, const std::string& field,
              std::vector<FieldGroup>& groups)
      : FlatFields(pool), payloads_(recording), field_(field), groups_(groups) {
    groups_.emplace_back();
  }

  std::uint64_t group_of(std::uint32_t process, const ReadSite& site, const EntryPayload& payload) {
    if (!payload.present || payload.bytes == nullptr) return 0;
    restart();
    found_ = 0;
    const trace::PayloadResult result =
        payloads_.read(process, site.local_domain, payload.bytes, payload.bits, *this);
    return result == trace::PayloadResult::whole || result == trace::PayloadResult::stopped ? found_
                                                                                            : 0;
  }

 protected:
  bool wants(const std::string& name) const override { return name == field_; }
  std::uint64_t keep(std::string_view text) override {
    const auto entry = texts_.emplace(std::string(text), texts_.size());
    text_ = &entry.first->first;
    return entry.first->second;
  }
  bool add(const std::string&, const FieldValue& value) override {
    const RowKey key{static_cast<std::uint64_t>(value.kind), value.bits, 0};
    const auto entry = numbers_.emplace(key, groups_.size());
    if (entry.second) {
      FieldGroup& group = groups_.emplace_back();
      group.kind = value.kind;
      group.bits = value.bits;
      if (value.kind == trace::PayloadValue::Kind::text) group.text = *text_;
    }
    found_ = entry.first->second;
    return false;
  }

 private:
  RecordedPayloads payloads_;
  const std::string& field_;
  std::vector<FieldGroup>& groups_;
  std::unordered_map<RowKey, std::uint64_t, RowKeyHash> numbers_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  const std::string* text_ = nullptr;
  std::uint64_t found_ = 0;
};

}  // namespace nvspan::reader
