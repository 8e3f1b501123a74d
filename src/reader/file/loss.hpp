// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a recording has not: of which thread, from when to when, how many events and why.

#pragma once

#include "record/file/format.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::reader {

struct ReadLoss {
  std::uint32_t process = 0;
  std::int64_t thread = -1;  // -1: threads that never had a chunk, or several
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t count = 0;  // 0: not known
  std::string_view reason;
};

std::string_view loss_reason_text(record::LossReason reason);
// Reasons of what was recorded and is not in the file any more.
constexpr std::string_view damaged_text = "damaged";
constexpr std::string_view cut_off_text = "cut off";
constexpr std::string_view overwritten_text = "overwritten";  // by a ring
constexpr std::string_view payload_loss_text = "payload not kept";

}  // namespace nvspan::reader
