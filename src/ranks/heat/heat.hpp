// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranks by steps in as many bins as a page can hold and a screen can show. A bin has its largest
// value and says whose it is, so that one slow step of one rank among millions stays in sight.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::ranks {

class Heat {
 public:
  // At most `rows` by `columns` bins. A bin of row r has the ranks from ceil(r * ranks / rows) on.
  // Throws std::invalid_argument if one of them is 0, or a bin would hold more than 65,536 cells.
  Heat(std::size_t ranks, std::size_t steps, std::size_t rows, std::size_t columns);

  // The values of a rank in ns, one for each step: how late it came, and how long its step took; 0
  // or less: nothing to show. Throws std::invalid_argument for other lengths and ranks.
  void add(std::size_t rank, const std::vector<float>& late, const std::vector<float>& durations);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  // Eight bytes for each bin, row by row: the code of its latest cell, which one of its cells that
  // is, and the same of the longest; each two bytes, the least first. Cells count by rank, then by
  // step. The code of a value is 0 for none, else 1 + 1024 * log2(1 + ns): within 0.04 %.
  std::string bytes() const;

 private:
  struct Largest {
    float value = 0;
    std::uint16_t cell = 0;
  };
  struct Bin {
    Largest late, duration;
  };

  std::size_t ranks_, steps_, rows_, columns_;
  std::vector<Bin> bins_;
};

}  // namespace nvspan::ranks
