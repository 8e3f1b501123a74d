// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The steps of a loop as nvspan._reader shows them.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "reader/loops/parts.hpp"
#include "reader/loops/ranges.hpp"
#include "reader/loops/waits.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/reader/values/column.hpp"

namespace nvspan::bindings {

// The ranges of a run, shared by what asks about steps.
struct LoopShared {
  std::shared_ptr<reader::Recording> recording;
  reader::LoopRanges ranges;
  bool is_nested = false;

  const std::string& label(std::uint32_t group) const { return ranges.groups[group].label; }
};

class LoopStepsObject {
 public:
  LoopStepsObject(std::shared_ptr<const LoopShared> shared, reader::LoopSteps steps);

  ColumnView start() const;
  ColumnView end() const;
  ColumnView thread() const;
  std::uint64_t evaluation() const { return steps_->evaluation; }
  bool is_floating() const { return steps_->is_floating; }
  std::int64_t peak();
  double mean_open();

  pybind11::object tree();
  pybind11::object means(const std::vector<std::int64_t>& high,
                         const std::vector<std::int64_t>& low);
  pybind11::object gaps(std::uint32_t thread) const;
  // Of a thread; -1: of the one that has the most steps.
  pybind11::list waits(std::int64_t thread) const;
  // Of some of the steps, wherever they run.
  pybind11::list waits_of(const std::vector<std::uint32_t>& which);
  pybind11::object holds();
  // A LoopStretches.
  pybind11::object owned_stretches();

  // A FoundSteps. `phases`: the names of the phases, of the time outside them, and of that in which
  // the CPU waits; `roles` is a dict from pairs of numbers, of a domain and a name, to roles.
  pybind11::object found(const pybind11::dict& roles, const pybind11::list& phases, bool direct,
                         const std::string& call_domain,
                         const std::vector<std::string>& work_domains) const;
  // Likewise by the series of parts directly within steps, without work of a GPU: `parts` are the
  // places of the phases in the tree. `held`: before the last phase comes that of the time in which
  // another step holds the event loop.
  pybind11::object found_by_parts(const std::vector<std::size_t>& parts, bool held,
                                  const pybind11::list& phases, const std::string& call_domain,
                                  const std::vector<std::string>& work_domains);

 private:
  pybind11::list listed(const std::vector<reader::LoopMeanwhile>& meanwhile) const;
  pybind11::list listed(std::vector<reader::LoopWait> waits) const;
  const reader::LoopTree& built();
  const reader::Owners& owners();
  const reader::Concurrency& concurrency();

  std::shared_ptr<const LoopShared> shared_;
  std::shared_ptr<const reader::LoopSteps> steps_;
  std::shared_ptr<const reader::LoopTree> tree_;
  std::unique_ptr<const reader::Owners> owners_;
  std::unique_ptr<const reader::Concurrency> concurrency_;
};

void bind_loop_steps(pybind11::module_& module);

}  // namespace nvspan::bindings
