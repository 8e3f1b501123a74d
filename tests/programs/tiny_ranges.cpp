// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that hold nothing but what it costs to record them.
#include <nvtx3/nvToolsExt.h>

int main() {
  nvtxRangePushA("all");
  for (int i = 0; i < 20000; ++i) {
    nvtxRangePushA("tiny");
    nvtxRangePop();
  }
  nvtxRangePop();
  return 0;
}
