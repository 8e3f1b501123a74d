// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Names, process numbers and colors in a Perfetto trace.

#pragma once

#include "reader/file/recording.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// "rank 1 · DataLoader worker 0: train.py --epochs 3": a rank, the name of the main thread where
// it has another than MainThread, and the command.
std::string process_title(const Recording& recording, std::uint32_t process);
// "domain:name.field".
std::string counter_title(const Recording& recording, const ReadCounter& counter);

// Each process's number in the system, or an invented one for those of machines that share one.
std::vector<std::uint32_t> distinct_pids(const Recording& recording);

// Whether the program chose the color: nvtx's, and so nvspan's, default is a blue without alpha.
bool has_own_color(const ReadSite& site);

// Why a range has no end of its own; empty: it has.
std::string_view end_reason_text(EndReason reason);

// The UI takes no colors from a trace: it makes one of a slice's correlation id, a text. This is a
// text that gives nearly the hue and lightness of `argb`: "#FF0000/1234". Empty: of a shade of
// grey, which the UI has none of.
std::string perfetto_color_key(std::uint32_t argb);

}  // namespace nvspan::reader
