// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/live_format.hpp"

#include <cstdint>
#include <string>

namespace nvspan::reader {

struct LiveRequest {
  std::uint64_t mode = record::live_no_mode;  // RecordMode
  std::uint64_t ring_bytes = 0;
};
enum class LiveAnswer : std::uint8_t { obeyed, refused, waiting, failed };

// Writes the request into the file of a running process, and waits for at most so many ns.
// `waiting`: no thread of it has had an event since; the next one obeys. `failed`: `problem` says
// why. Requests to one file take turns.
LiveAnswer ask(const std::string& path, const LiveRequest& request, std::uint64_t wait,
               std::string& problem);

constexpr std::int64_t no_lines = -1;
// Asks the sampler of its lines for samples every `period` ns; 0: as often as they are cheap;
// no_lines: for none that others asked for. `refused`: it has no sampler. `waiting`: it does not
// run now.
LiveAnswer ask_for_lines(const std::string& path, std::int64_t period, std::uint64_t wait,
                         std::string& problem);

}  // namespace nvspan::reader
