// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// What a call of the driver's interface is, by its name.
struct alignas(8) CallTraits {  // of a size that is read and written at once
  static constexpr std::uint8_t no_stream = 0xff;

  std::uint8_t stream = no_stream;  // bytes before its stream in its parameters
  bool in_configuration = false;    // which are those of a launch configuration, by a pointer
  bool per_thread = false;          // stream 0 is the thread's own
  bool changes_memory = false;
  bool launches = false;
};

CallTraits traits_of(std::string_view name) noexcept;

// The stream among a call's parameters: 1 and 2 are the default streams, 0 is none.
std::uint64_t stream_of(const CallTraits& traits, const void* parameters) noexcept;

}  // namespace nvspan::inject
