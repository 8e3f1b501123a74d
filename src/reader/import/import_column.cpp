// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/import/import_table.hpp"

#include <utility>

namespace nvspan::reader {
namespace {

template <typename T>
void take(std::vector<T>& values, const std::vector<std::uint32_t>& rows) {
  if (values.empty()) return;
  std::vector<T> taken(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) taken[i] = values[rows[i]];
  values = std::move(taken);
}

}  // namespace

std::uint32_t ImportTexts::number(std::string_view text) {
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(texts_.back(), number);
  return number;
}

template <typename T>
void ImportColumn::add_to(std::vector<T>& values, T value) {
  if (values.empty() && rows_ != 0) {
    values.resize(rows_);
    present.assign(rows_, 0);
  }
  values.push_back(value);
  if (!present.empty()) present.push_back(1);
  ++rows_;
}

void ImportColumn::add(std::int64_t value) {
  if (kind == ImportKind::real) return add_to(reals, static_cast<double>(value));
  add_to(integers, value);
}

void ImportColumn::add(double value) {
  if (kind == ImportKind::real) return add_to(reals, value);
  add_null();
}

void ImportColumn::add_null() {
  if (!empty()) {
    if (present.empty()) present.assign(rows_, 1);
    present.push_back(0);
    if (kind == ImportKind::real) {
      reals.push_back(0);
    } else {
      integers.push_back(0);
    }
  }
  ++rows_;
}

void ImportColumn::finish(std::size_t rows) {
  while (rows_ < rows) add_null();
}

void ImportColumn::reorder(const std::vector<std::uint32_t>& rows) {
  take(integers, rows);
  take(reals, rows);
  take(present, rows);
}

}  // namespace nvspan::reader
