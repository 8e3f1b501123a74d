// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges whose names say which range they lie in, as fast as they can be: "LEVEL:OUTER:OWN". Two
// threads, one with registered strings and one with plain ones, in domains that alternate by level.
// With an argument each has so many events, in bursts, and "done" is said when both have had them.

#include "events.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int levels = 6;
constexpr int names = 4;
constexpr long burst = 20;

// `most`: how many events; 0: without end.
void run(bool registered, long most) {
  const nvtxDomainHandle_t domains[] = {nvtxDomainCreateA("even"), nvtxDomainCreateA("odd")};
  static std::string texts[2][levels][names][names];
  std::vector<nvtxEventAttributes_t> all(levels * names * names);
  for (int i = 0; i < levels * names * names; ++i) {
    const int level = i / names / names;
    std::string& text = texts[registered][level][i / names % names][i % names];
    text = std::to_string(level) + ":" + std::to_string(i / names % names) + ":" +
           std::to_string(i % names);
    all[static_cast<std::size_t>(i)] =
        registered ? named(nvtxDomainRegisterStringA(domains[level % 2], text.c_str()))
                   : named(text.c_str());
  }
  int open[levels + 1] = {};
  int depth = 0;
  unsigned drawn = registered ? 1 : 2;
  for (long event = 0; most == 0 || event < most; ++event) {
    if (most != 0 && event % burst == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    drawn = drawn * 1664525u + 1013904223u;
    const bool deeper = depth == 0 || (depth < levels && (drawn >> 16) % 2 == 0);
    if (deeper) {
      open[depth + 1] = static_cast<int>((drawn >> 20) % names);
      nvtxDomainRangePushEx(
          domains[depth % 2],
          &all[static_cast<std::size_t>((depth * names + open[depth]) * names + open[depth + 1])]);
      ++depth;
    } else {
      --depth;
      nvtxDomainRangePop(domains[depth % 2]);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  const long most = count > 1 ? std::atol(words[1]) : 0;
  std::thread plain(run, false, most);
  std::puts("ready");
  std::fflush(stdout);
  run(true, most);
  plain.join();
  std::puts("done");
  std::fflush(stdout);
  std::getchar();
  return 0;
}
