// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines of Python that check mode names. An id stands for a line: 0 for an unknown one.

#include <cstdint>
#include <string>

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

struct SourceLine {
  std::string file;
  std::string function;
  int line = 0;
};

void look_through(const std::string& folder);  // its lines stand for those of their callers

uint32_t calling_site() noexcept;  // with the GIL

// Of any thread, with or without the GIL.
SourceLine line_of_site(uint32_t id);
std::string site_text(uint32_t id);

}  // namespace nvspan::bindings
