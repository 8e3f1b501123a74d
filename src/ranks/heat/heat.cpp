// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/heat/heat.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nvspan::ranks {
namespace {

// The first of `count` things that is in one of `bins`.
std::size_t first_of(std::size_t bin, std::size_t count, std::size_t bins) {
  return (bin * count + bins - 1) / bins;
}

std::uint16_t code_of(float ns) {
  if (!(ns > 0)) return 0;
  constexpr double steps_of_octave = 1024, most = 65535;
  return static_cast<std::uint16_t>(
      std::min(most, 1 + std::round(steps_of_octave * std::log2(1.0 + static_cast<double>(ns)))));
}

void append(std::string& bytes, std::uint16_t value) {
  bytes.push_back(static_cast<char>(value & 0xFF));
  bytes.push_back(static_cast<char>(value >> 8));
}

}  // namespace

Heat::Heat(std::size_t ranks, std::size_t steps, std::size_t rows, std::size_t columns)
    : ranks_(ranks),
      steps_(steps),
      rows_(std::min(ranks, rows)),
      columns_(std::min(steps, columns)) {
  if (rows_ == 0 || columns_ == 0) throw std::invalid_argument("there are no ranks or no steps");
  constexpr std::size_t most_cells = 65'536;
  const auto in_one = [](std::size_t count, std::size_t bins) { return (count + bins - 1) / bins; };
  if (in_one(ranks, rows_) > most_cells / in_one(steps, columns_)) {
    throw std::invalid_argument("more than 65,536 cells would be in one bin");
  }
  bins_.resize(rows_ * columns_);
}

void Heat::add(std::size_t rank, const std::vector<float>& late,
               const std::vector<float>& durations) {
  if (rank >= ranks_ || late.size() != steps_ || durations.size() != steps_) {
    throw std::invalid_argument("a rank has a value for each step");
  }
  const std::size_t row = rank * rows_ / ranks_;
  const std::size_t rank_in_bin = rank - first_of(row, ranks_, rows_);
  for (std::size_t step = 0; step < steps_; ++step) {
    const std::size_t column = step * columns_ / steps_;
    const std::size_t first = first_of(column, steps_, columns_);
    const std::size_t in_column = first_of(column + 1, steps_, columns_) - first;
    const auto cell = static_cast<std::uint16_t>(rank_in_bin * in_column + (step - first));
    Bin& bin = bins_[row * columns_ + column];
    if (late[step] > bin.late.value) bin.late = Largest{late[step], cell};
    if (durations[step] > bin.duration.value) bin.duration = Largest{durations[step], cell};
  }
}

std::string Heat::bytes() const {
  std::string bytes;
  bytes.reserve(8 * bins_.size());
  for (const Bin& bin : bins_) {
    for (const Largest& each : {bin.late, bin.duration}) {
      append(bytes, code_of(each.value));
      append(bytes, each.cell);
    }
  }
  return bytes;
}

}  // namespace nvspan::ranks
