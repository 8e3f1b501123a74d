// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/import/import_table.hpp"

#include <utility>

namespace nvspan::reader {
namespace {

template <typename T>
void take(std::vector<T>& values, const std::vector<std::uint32_t>& rows, std::vector<T>& spare) {
  if (values.empty()) return;
  spare.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) spare[i] = values[rows[i]];
  std::swap(values, spare);
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

void ImportTexts::clear() {
  numbers_.clear();
  texts_.clear();
}

// Rows without a value up to `row`.
template <typename T>
void ImportColumn::leave_out(std::vector<T>& values, std::size_t row) {
  if (present.empty()) {
    present.reserve(expected_);
    present.assign(values.size(), 1);
  }
  values.resize(row);
  present.resize(row, 0);
}
template void ImportColumn::leave_out(std::vector<std::int64_t>&, std::size_t);
template void ImportColumn::leave_out(std::vector<double>&, std::size_t);

void ImportColumn::finish(std::size_t rows) {
  if (!integers.empty() && integers.size() != rows) leave_out(integers, rows);
  if (!reals.empty() && reals.size() != rows) leave_out(reals, rows);
}

void ImportColumn::clear() {
  integers.clear();
  reals.clear();
  present.clear();
  texts.clear();
}

void ImportColumn::reorder(const std::vector<std::uint32_t>& rows, Spare& spare) {
  take(integers, rows, spare.integers);
  take(reals, rows, spare.reals);
  take(present, rows, spare.present);
}

}  // namespace nvspan::reader
