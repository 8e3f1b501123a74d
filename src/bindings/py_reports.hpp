// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What reports need of a recording beyond its tables: functions of the module nvspan._reader.

#pragma once

#include "bindings/py.hpp"

#include <pybind11/pybind11.h>

#include "record/reader.hpp"
#include "record/selection.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace nvspan {

// A recording, or a part of it, as the functions take it.
struct RecordingHandle {
  std::shared_ptr<Recording> recording;
  Selection selection;
};

// Text from a recording; bytes that are not UTF-8 become surrogates.
pybind11::object text_of(std::string_view bytes);

// A dict for each, in the order given.
pybind11::list list_losses(const std::vector<ReadLoss>& losses);

void bind_reports(pybind11::module_& module);

}  // namespace nvspan
