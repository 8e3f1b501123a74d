// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording as a trace for Chrome's viewer, and for what reads its format: the Perfetto UI,
// vizviewer, speedscope.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace nvspan::reader {

// `progress` is called now and then with what is done, between 0 and 1. Returns the file's bytes.
// Throws std::system_error when the file cannot be written.
std::uint64_t export_chrome(const Recording& recording, const Selection& selection,
                            const std::string& path, const std::function<void(double)>& progress);

}  // namespace nvspan::reader
