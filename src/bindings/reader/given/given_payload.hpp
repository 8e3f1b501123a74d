// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "bindings/reader/given/given_column.hpp"
#include "trace/payload/scalar_payload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

namespace nvspan::bindings {

// A schema of payloads: how long a row of it is, and in which domain it is known.
struct GivenSchema {
  std::uint32_t domain;
  std::size_t size;
};

// A payload that each row has, in the words of the file's entries.
class GivenPayload {
 public:
  static constexpr std::size_t piece_words = 3;  // schema, size as given, size kept

  GivenPayload(pybind11::handle given, std::uint64_t schema, const GivenSchema* known) {
    if (known == nullptr) {
      column_.emplace(given, "payload", 'n');
      return;
    }
    schema_ = schema;
    size_ = known->size;
    if (!given.is_none()) rows_.emplace(given, "payload", size_);
  }
  trace::PayloadType type() const {
    return rows_     ? trace::PayloadType::ext
           : column_ ? column_->payload_type()
                     : trace::PayloadType::none;
  }
  void check(std::size_t rows) const {
    std::size_t own = rows;
    if (rows_) {
      own = rows_->rows();
    } else if (column_) {
      own = column_->rows().value_or(rows);
    }
    if (own == rows) return;
    throw std::invalid_argument("payload has " + std::to_string(own) + " rows and the times have " +
                                std::to_string(rows));
  }
  std::size_t words() const {
    if (rows_) return 1 + piece_words + (size_ + 7) / 8;
    return type() == trace::PayloadType::none ? 0 : 1;
  }
  void begin(std::size_t begin, std::size_t count) {
    begin_ = begin;
    if (!rows_ && column_ && column_->is_given()) column_->bits(begin, count, bits_);
  }
  void put(std::size_t i, std::uint64_t* to) const {
    if (!rows_) {
      if (words() != 0) *to = bits_[i];
      return;
    }
    const std::size_t padded = (size_ + 7) / 8;
    to[0] = (piece_words + padded) * 8;
    to[1] = schema_;
    to[2] = to[3] = size_;
    if (padded == 0) return;
    to[3 + padded] = 0;
    std::memcpy(to + 4, (*rows_)[begin_ + i], size_);
  }
  std::uint64_t bits(std::size_t i) const { return bits_[i]; }

 private:
  std::optional<GivenColumn> column_;
  std::optional<GivenRows> rows_;
  std::uint64_t schema_ = 0;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::uint64_t bits_[given_block];
};

}  // namespace nvspan::bindings
