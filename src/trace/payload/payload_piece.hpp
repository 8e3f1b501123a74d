// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace nvspan::trace {

// One piece of an extended payload. `data` has no address when it was not copied; `error` says why.
struct PayloadBlob {
  std::uint64_t schema_id = 0;
  std::uint64_t size = 0;
  std::string_view data;
  const char* error = nullptr;
};

// The same, as the decoder takes it.
struct PayloadPiece {
  std::uint64_t schema = 0;
  std::string_view data;
};

}  // namespace nvspan::trace
