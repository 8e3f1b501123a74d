// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// nvspan._reader.RankSummary.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <memory>

#include "ranks/summary/summary.hpp"

namespace nvspan::bindings {

// As Python holds it: others may take it apart, and put tables in.
struct RankSummary {
  std::unique_ptr<ranks::Summary> summary = std::make_unique<ranks::Summary>();
};

void bind_rank_summary(pybind11::module_& module);

}  // namespace nvspan::bindings
