// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A column that the caller gives: one number for all rows, or a buffer with a number for each.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "trace/payload/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nvspan::bindings {

constexpr std::size_t given_block = 2048;  // rows that are read at once

class GivenColumn {
 public:
  // Raises TypeError for what is no column of `wanted`, "i" integers or "n" numbers. None: absent.
  GivenColumn(pybind11::handle given, const char* name, char wanted);
  ~GivenColumn();
  GivenColumn(const GivenColumn&) = delete;
  GivenColumn& operator=(const GivenColumn&) = delete;
  GivenColumn(GivenColumn&&) = delete;
  GivenColumn& operator=(GivenColumn&&) = delete;

  const char* name() const noexcept { return name_; }
  bool is_given() const noexcept { return type_ != '\0'; }
  bool is_scalar() const noexcept { return is_given() && !rows_; }
  std::optional<std::size_t> rows() const noexcept { return rows_; }
  bool is_unsigned64() const noexcept { return type_ == 'Q'; }
  bool is_real() const noexcept { return type_ == 'f' || type_ == 'd'; }
  trace::PayloadType payload_type() const noexcept;

  // Without the GIL. Integers as int64; those of uint64 that are larger come out negative.
  void integers(std::size_t begin, std::size_t count, std::int64_t* out) const;
  // The bits of each number as a payload of payload_type() has them.
  void bits(std::size_t begin, std::size_t count, std::uint64_t* out) const;
  // Of columns of float32 and float64.
  void reals(std::size_t begin, std::size_t count, double* out) const;

 private:
  const char* at(std::size_t row) const noexcept;

  const char* name_;
  char type_ = '\0';  // one of "bhilqBHIQfd" as struct has them, by size
  std::optional<std::size_t> rows_;
  Py_buffer view_ = {};
  std::int64_t integer_ = 0;
  double real_ = 0;
};

// Rows of bytes of one size.
class GivenRows {
 public:
  GivenRows(pybind11::handle given, const char* name, std::size_t size);
  ~GivenRows();
  GivenRows(const GivenRows&) = delete;
  GivenRows& operator=(const GivenRows&) = delete;
  GivenRows(GivenRows&&) = delete;
  GivenRows& operator=(GivenRows&&) = delete;

  std::size_t rows() const noexcept { return rows_; }
  const char* operator[](std::size_t row) const noexcept {
    return static_cast<const char*>(view_.buf) + static_cast<Py_ssize_t>(row) * stride_;
  }

 private:
  Py_buffer view_ = {};
  std::size_t rows_ = 0;
  Py_ssize_t stride_ = 0;
};

}  // namespace nvspan::bindings
