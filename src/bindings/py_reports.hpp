// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What reports need of a recording beyond its tables: functions of the module nvspan._reader.

#pragma once

#include "bindings/py.hpp"

#include <pybind11/pybind11.h>

#include "record/aggregate.hpp"
#include "record/device_lanes.hpp"
#include "record/reader.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace nvspan {

// A recording as the functions take it.
struct RecordingHandle {
  std::shared_ptr<Recording> recording;
};

// Text from a recording; bytes that are not UTF-8 become surrogates.
pybind11::object text_of(std::string_view bytes);

// `domains`, `names` and `threads` are sets of numbers, or None for all.
AggregateOptions make_options(const Recording& recording, const pybind11::object& domains,
                              const pybind11::object& names, const pybind11::object& threads,
                              std::int64_t from, std::int64_t to);

// A dict for each, in the order given.
pybind11::list list_losses(const std::vector<ReadLoss>& losses);

const char* kind_text(RangeKind kind);

// Adds the device of a lane, and the stream with its name, to a row that is grouped by them.
void add_lane(pybind11::dict& entry, const Recording& recording, const DeviceLane& lane,
              bool with_stream);

void bind_reports(pybind11::module_& module);

}  // namespace nvspan
