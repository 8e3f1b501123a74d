// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What reports need of a recording beyond its tables: functions of the module nvspan._reader.

#pragma once

#include "bindings/support/py.hpp"
#include "bindings/reader/values/result.hpp"
#include "bindings/reader/values/text.hpp"

#include <pybind11/pybind11.h>

#include "reader/file/recording.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/selection.hpp"
#include "reader/stats/aggregate.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace nvspan::bindings {

// A recording, or a part of it, as the functions take it.
struct RecordingHandle {
  std::shared_ptr<reader::Recording> recording;
  reader::Selection selection;
};

// A Loss for each, in the order given.
pybind11::list list_losses(const std::vector<reader::ReadLoss>& losses);

const char* kind_text(reader::RangeKind kind);

// A string of a recording by its number; None where it has none.
pybind11::object string_at(const reader::Recording& recording, std::int32_t number);

// Adds the device of a lane, and the stream with its name, to a row that is grouped by them.
void add_lane(NewResult& entry, const reader::Recording& recording, const reader::DeviceLane& lane,
              bool with_stream);

// `progress`, or None, is called with what an export passes on, with the GIL that `released` gave
// back; a signal's handler may raise there.
template <typename Value>
std::function<void(Value)> progress_of(const pybind11::object& progress, released_gil& released) {
  if (progress.is_none()) return {};
  return [&progress, &released](Value done) {
    const retaken_gil held(released);
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    progress(done);
  };
}

// Raises the error of a file that could not be written.
[[noreturn]] void raise_os_error(const std::system_error& error, const std::string& path);

void bind_reports(pybind11::module_& module);
void bind_variation(pybind11::module_& module);

}  // namespace nvspan::bindings
