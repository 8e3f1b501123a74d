// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Rows of events as Python gives them to an external recording: columns that are checked as a whole
// before the first row is taken.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "bindings/reader/given/given_column.hpp"
#include "record/external/clock_map.hpp"
#include "record/external/external_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace nvspan::bindings {

// What the rows of a call have beside their times.
class GivenFields {
 public:
  explicit GivenFields(const pybind11::kwargs& given);

  pybind11::object take(const char* name);  // None where it is not given
  void end() const;                         // raises TypeError for names that nobody took

 private:
  pybind11::dict left_;
};

// The sites of a call's rows. Without the GIL.
class SiteRows {
 public:
  struct Columns {
    GivenColumn name;
    GivenColumn category;
    GivenColumn color;
  };

  SiteRows(record::ExternalWriter& writer, std::uint32_t domain, const Columns& columns,
           trace::PayloadType payload, std::uint8_t device);

  // Throws std::invalid_argument where a number is not one that the column may have.
  void check(std::size_t rows) const;
  void sites(std::size_t begin, std::size_t count, std::uint32_t* out);

 private:
  struct Row {
    std::int64_t name, category, color;
  };
  std::uint32_t site(const Row& row);

  record::ExternalWriter& writer_;
  record::ProcessPart& process_;
  const Columns& columns_;
  record::SiteDefinition common_ = {};
  bool same_but_name_;
  std::vector<std::uint32_t> by_name_;  // site + 1
  // Sites of rows that came before, by a few bits of what they have.
  struct Known {
    Row row = {-2, -2, -2};
    std::uint32_t site = 0;
  };
  std::array<Known, 256> known_;
};

// Times in ns, by a clock or as they are. Throws std::invalid_argument with row and value.
class TimeRows {
 public:
  TimeRows(const GivenColumn& column, const record::ClockMap* clock)
      : column_(column), clock_(clock) {}
  static constexpr std::int64_t not_ended = INT64_MIN;

  // `may_be_open`: not_ended may stand in it.
  void read(std::size_t begin, std::size_t count, std::int64_t* out,
            bool may_be_open = false) const;

 private:
  const GivenColumn& column_;
  const record::ClockMap* clock_;
};

// How many rows the columns have: one if each is a number. Throws std::invalid_argument where two
// have not the same.
std::size_t rows_of(std::initializer_list<const GivenColumn*> columns);

}  // namespace nvspan::bindings
