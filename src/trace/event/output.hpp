// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace nvspan::trace {

// Where a sink's lines go.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  Output(Output&&) = delete;
  Output& operator=(Output&&) = delete;
  virtual ~Output() = default;

  // Writes all of it in one piece where the system can. False: it failed, and will go on failing.
  virtual bool write(const char* data, std::size_t size) noexcept = 0;
  virtual bool is_terminal() const noexcept = 0;
};

}  // namespace nvspan::trace
