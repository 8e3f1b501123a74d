// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/high_quantile.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::reader {

void HighQuantile::add_log(float x) noexcept {
  constexpr double rise = 0.03;
  const auto found = static_cast<double>(x);
  if (seen_ < warm_up) {
    log_ = seen_ == 0 ? found : std::max(log_, found);
    ++seen_;
    return;
  }
  log_ += found > log_ ? rise * 0.99 : -rise * 0.01;
}

double HighQuantile::value() const noexcept { return seen_ < warm_up ? 0 : std::exp(log_); }

}  // namespace nvspan::reader
