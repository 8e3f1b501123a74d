// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text of recordings, whose bytes need not be UTF-8, as Python's str.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

namespace nvspan::bindings {

// Text from a recording; bytes that are not UTF-8 become surrogates.
pybind11::object text_of(std::string_view bytes);
// The bytes that text_of() made the text of.
std::string bytes_of(const pybind11::str& text);

}  // namespace nvspan::bindings
