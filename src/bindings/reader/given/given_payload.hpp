// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "bindings/reader/given/given_column.hpp"
#include "trace/payload/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

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

  // `pieces`: None, or a column of words and one of where each row's begin among them, and the last
  // one's end: payloads of any schemas, as the file's entries have them.
  GivenPayload(pybind11::handle given, std::uint64_t schema, const GivenSchema* known,
               const pybind11::object& pieces = pybind11::none()) {
    if (!pieces.is_none()) {
      const auto both = pybind11::cast<std::pair<pybind11::object, pybind11::object>>(pieces);
      words_.emplace(both.first, "pieces", sizeof(std::uint64_t));
      begins_.emplace(both.second, "pieces", sizeof(std::uint64_t));
      return;
    }
    if (known == nullptr) {
      column_.emplace(given, "payload", 'n');
      return;
    }
    schema_ = schema;
    size_ = known->size;
    if (!given.is_none()) rows_.emplace(given, "payload", size_);
  }
  trace::PayloadType type() const {
    return rows_ || words_ ? trace::PayloadType::ext
           : column_       ? column_->payload_type()
                           : trace::PayloadType::none;
  }
  void check(std::size_t rows) const {
    if (words_) return check_pieces(rows);
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
  // Of row i of those begun.
  std::size_t words(std::size_t i) const {
    if (words_) return 1 + static_cast<std::size_t>(piece(begin_ + i + 1) - piece(begin_ + i));
    return words();
  }
  std::size_t words() const {
    if (rows_) return 1 + piece_words + (size_ + 7) / 8;
    return type() == trace::PayloadType::none ? 0 : 1;
  }
  void begin(std::size_t begin, std::size_t count) {
    begin_ = begin;
    if (!rows_ && !words_ && column_ && column_->is_given()) column_->bits(begin, count, bits_);
  }
  void put(std::size_t i, std::uint64_t* to) const {
    if (words_) {
      const std::size_t count = words(i) - 1;
      *to = count * sizeof(std::uint64_t);
      const auto first = static_cast<std::size_t>(piece(begin_ + i));
      for (std::size_t at = 0; at < count; ++at) {
        std::memcpy(to + 1 + at, (*words_)[first + at], sizeof(std::uint64_t));
      }
      return;
    }
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
  std::uint64_t piece(std::size_t row) const {
    std::uint64_t place = 0;
    if (!begins_) return place;
    std::memcpy(&place, (*begins_)[row], sizeof place);
    return place;
  }
  void check_pieces(std::size_t rows) const {
    if (!begins_ || !words_) return;
    bool fits = begins_->rows() == rows + 1;
    for (std::size_t row = 0; fits && row < rows; ++row) {
      const std::uint64_t begin = piece(row), end = piece(row + 1);
      fits = begin <= end && end <= words_->rows() && end - begin < record_words;
    }
    if (!fits) throw std::invalid_argument("pieces must have a start for each row, and an end");
  }

  static constexpr std::uint64_t record_words = (std::uint64_t{1} << 24) - 2;
  std::optional<GivenRows> words_;
  std::optional<GivenRows> begins_;
  std::optional<GivenColumn> column_;
  std::optional<GivenRows> rows_;
  std::uint64_t schema_ = 0;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::uint64_t bits_[given_block];
};

}  // namespace nvspan::bindings
