// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace nvspan::cupti {

struct LibraryPaths {
  std::string loaded;                   // the one that the process has; empty: none
  std::vector<std::string> candidates;  // to be tried in this order
};

// Where CUPTI is: beside the CUDA libraries that the process has loaded, in the wheels of NVIDIA
// beside those and beside nvspan, in CUDA_HOME and CUDA_PATH, in /usr/local/cuda, and where the
// loader looks.
LibraryPaths library_paths();

}  // namespace nvspan::cupti
