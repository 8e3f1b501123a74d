// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges whose names say which range they lie in, as fast as they can be: "LEVEL:OUTER:OWN". Two
// threads, one with registered strings and one with plain ones, in domains that alternate by level.

#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int levels = 6;
constexpr int names = 4;

void run(bool registered) {
  const nvtxDomainHandle_t domains[] = {nvtxDomainCreateA("even"), nvtxDomainCreateA("odd")};
  static std::string texts[2][levels][names][names];
  std::vector<nvtxEventAttributes_t> all(levels * names * names);
  for (int i = 0; i < levels * names * names; ++i) {
    const int level = i / names / names;
    std::string& text = texts[registered][level][i / names % names][i % names];
    text = std::to_string(level) + ":" + std::to_string(i / names % names) + ":" +
           std::to_string(i % names);
    nvtxEventAttributes_t& event = all[static_cast<std::size_t>(i)];
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = registered ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
    if (registered) {
      event.message.registered = nvtxDomainRegisterStringA(domains[level % 2], text.c_str());
    } else {
      event.message.ascii = text.c_str();
    }
  }
  int open[levels + 1] = {};
  int depth = 0;
  for (unsigned drawn = registered ? 1 : 2;;) {
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

int main() {
  std::thread plain(run, false);
  std::puts("ready");
  std::fflush(stdout);
  run(true);
  plain.join();
  return 0;
}
