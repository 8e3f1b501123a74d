// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// What a call of the driver's interface is, by its name.
struct alignas(8) CallTraits {  // of a size that is read and written at once
  static constexpr std::uint8_t nowhere = 0xff;

  std::uint8_t stream = nowhere;  // bytes before its stream in its parameters
  std::uint8_t event = nowhere;   // and before its event
  bool in_configuration = false;  // the parameters are a launch configuration, by a pointer
  bool per_thread = false;        // stream 0 is the thread's own
  bool changes_memory = false;
  bool launches = false;
};

CallTraits traits_of(std::string_view name) noexcept;

// The stream among a call's parameters: 1 and 2 are the default streams, 0 is none.
std::uint64_t stream_of(const CallTraits& traits, const void* parameters) noexcept;

// The event among a call's parameters; 0 is none.
std::uint64_t event_of(const CallTraits& traits, const void* parameters) noexcept;

}  // namespace nvspan::inject
