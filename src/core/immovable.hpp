// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace nvspan::core {

// Base of what is neither copied nor moved.
class Immovable {
 public:
  Immovable(const Immovable&) = delete;
  Immovable& operator=(const Immovable&) = delete;
  Immovable(Immovable&&) = delete;
  Immovable& operator=(Immovable&&) = delete;

 protected:
  Immovable() = default;
  ~Immovable() = default;
};

}  // namespace nvspan::core
