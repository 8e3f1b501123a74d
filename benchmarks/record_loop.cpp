// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A loop of NVTX calls: record_loop KIND RANGES THREADS prints the nanoseconds of processor time
// that one event takes in each thread: other programs on the machine count as little as they can.
// KIND is registered, ascii, startend or mark.

#include <nvtx3/nvToolsExt.h>

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int names = 16;

double processor_time() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double run(const char* kind, long ranges, nvtxDomainHandle_t domain) {
  nvtxEventAttributes_t attributes[names] = {};
  static const char* const texts[names] = {"alpha", "beta", "gamma", "delta", "forward", "backward",
                                           "step",  "load", "save",  "copy",  "reduce",  "gather",
                                           "a",     "bb",   "ccc",   "dddd"};
  const bool registered = std::strcmp(kind, "ascii") != 0;
  for (int i = 0; i < names; ++i) {
    attributes[i].version = NVTX_VERSION;
    attributes[i].size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    if (registered) {
      attributes[i].messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      attributes[i].message.registered = nvtxDomainRegisterStringA(domain, texts[i]);
    } else {
      attributes[i].messageType = NVTX_MESSAGE_TYPE_ASCII;
      attributes[i].message.ascii = texts[i];
    }
  }
  const double begin = processor_time();
  long events = 2 * ranges;
  if (std::strcmp(kind, "startend") == 0) {
    for (long i = 0; i < ranges; ++i) {
      nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes[i % names]));
    }
  } else if (std::strcmp(kind, "mark") == 0) {
    events = ranges;
    for (long i = 0; i < ranges; ++i) nvtxDomainMarkEx(domain, &attributes[i % names]);
  } else {
    for (long i = 0; i < ranges; ++i) {
      nvtxDomainRangePushEx(domain, &attributes[i % names]);
      nvtxDomainRangePop(domain);
    }
  }
  return (processor_time() - begin) / static_cast<double>(events);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const long ranges = std::atol(argv[2]);
  const int count = std::atoi(argv[3]);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("loop");
  std::vector<double> cost(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) {
    threads.emplace_back(
        [&, i] { cost[static_cast<std::size_t>(i)] = run(argv[1], ranges, domain); });
  }
  cost[0] = run(argv[1], ranges, domain);
  for (std::thread& thread : threads) thread.join();
  for (const double value : cost) std::printf("%.2f ", value);
  std::printf("\n");
  return 0;
}
