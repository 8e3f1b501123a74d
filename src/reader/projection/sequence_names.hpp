// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nvspan::reader {

// The sequence numbers that torch's emit_nvtx puts into names: "aten::mm, seq = 7" opened the range
// whose backward pass is "MmBackward0, stashed seq = 7" or "..., seq = 7" of an autograd thread.
inline std::optional<std::int64_t> sequence_of(std::string_view name) noexcept {
  constexpr std::string_view key = "seq = ";
  const std::size_t at = name.rfind(key);
  if (at == std::string_view::npos || at < 2) return std::nullopt;
  std::int64_t number = 0;
  std::size_t i = at + key.size();
  const std::size_t first = i;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && i < first + 18; ++i) {
    number = number * 10 + (name[i] - '0');
  }
  if (i == first) return std::nullopt;
  return number;
}

// Whether a name with a sequence number is of the backward pass.
inline bool is_backward_name(std::string_view name) noexcept {
  return name.find("stashed seq = ") != std::string_view::npos ||
         name.find("Backward") != std::string_view::npos ||
         name.rfind("autograd::engine::", 0) == 0 ||
         name.find("AccumulateGrad") != std::string_view::npos;
}

}  // namespace nvspan::reader
