// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cupti/abi.hpp"

#include <string>

namespace nvspan::cupti {

struct CuptiLibrary {
  CuptiFunctions functions = {};
  std::string path;
  std::string problem;  // why there are no functions; empty: there are
};

// The library that the process has loaded, else the one that is found on this machine, which is
// loaded then; NVSPAN_LIBCUPTI names another one. Found once, and never unloaded: it begins
// threads.
const CuptiLibrary& cupti_library();

// What a result means, in CUPTI's words.
std::string result_text(const CuptiFunctions& functions, CuptiResult result);

}  // namespace nvspan::cupti
