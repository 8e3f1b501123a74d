// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The fields of payloads as columns: one for each name that a payload has, "outer.inner" within a
// struct. Lists are JSON.

#pragma once

#include "core/text/line_buffer.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/tables/tables.hpp"
#include "trace/sinks/payload_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

struct FieldValue {
  trace::PayloadValue::Kind kind = trace::PayloadValue::Kind::count;
  std::uint64_t bits = 0;  // of text: what keep() returned
};

// Flat fields of one payload at a time, told to add(name, value).
class FlatFields : public trace::PayloadVisitor {
 public:
  explicit FlatFields(core::PagePool& pool) : list_(pool), json_(list_) {}

  bool value(std::string_view name, const trace::PayloadValue& value) override;
  bool begin(std::string_view name, bool is_list) override;
  bool end(bool is_list) override;

 protected:
  // False: that is enough.
  virtual bool add(const std::string& name, const FieldValue& value) = 0;
  // A number for a text, the same for the same.
  virtual std::uint64_t keep(std::string_view text) = 0;
  void restart();
  // Whether a field of that name can be wanted; a list that is not is not written.
  virtual bool wants(const std::string&) const { return true; }

 private:
  FieldValue text(std::string_view given) {
    return FieldValue{trace::PayloadValue::Kind::text, keep(given)};
  }

  std::string path_;
  std::vector<std::size_t> lengths_;  // of the path around each struct
  std::size_t lists_ = 0;             // that are open
  core::LineBuffer list_;
  trace::PayloadJson json_;
};

class PayloadColumns {
 public:
  struct Field {
    std::string name;
    std::vector<std::uint64_t> rows;  // ascending
    std::vector<FieldValue> values;
  };
  static constexpr std::size_t most_fields = 256;

  // Of all rows that have extended payloads, which lie in `bytes`.
  PayloadColumns(Recording& recording, const RangeTable& rows,
                 const std::vector<std::uint8_t>& bytes);
  PayloadColumns(Recording& recording, const MarkTable& rows,
                 const std::vector<std::uint8_t>& bytes);

  const std::vector<Field>& fields() const noexcept { return fields_; }
  const Field* find(const std::string& name) const;
  // How many payloads could not be read for a reason other than an unknown schema.
  std::uint64_t refused() const noexcept { return refused_; }
  // How many values lie in fields for which there is no column any more.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  class Collector;
  template <typename Table>
  void read(Recording& recording, const Table& table, const std::vector<std::uint8_t>& bytes);

  std::vector<Field> fields_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::uint64_t refused_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace nvspan::reader
