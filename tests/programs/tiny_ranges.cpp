// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that hold nothing but what it costs to record them. It prints how often the thread lost
// its core meanwhile.
#include <nvtx3/nvToolsExt.h>
#include <sys/resource.h>

#include <cstdio>

namespace {

long switches() {
  rusage used = {};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}

}  // namespace

int main() {
  nvtxMarkA("the library is loaded");
  const long before = switches();
  nvtxRangePushA("all");
  for (int i = 0; i < 20000; ++i) {
    nvtxRangePushA("tiny");
    nvtxRangePop();
  }
  nvtxRangePop();
  std::printf("%ld\n", switches() - before);
  return 0;
}
