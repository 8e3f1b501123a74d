// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The injection library as the annotation core's tool: it comes and goes, and what it wrote.

#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "annotate/tool/attachment.hpp"
#include "expect.hpp"

namespace nvspan_test {

struct Tool {
  std::string library;
  std::string file;  // of its trace
  std::string config = "format=jsonl;file=" + file;

  void attach() const {
    const std::string problem = nvspan::annotate::attach_tool(library, config);
    expect(problem.empty(), "attach: " + problem);
  }
  void come_and_go(int times) const {
    for (int i = 0; i < times; ++i) {
      attach();
      std::this_thread::yield();
      nvspan::annotate::detach_tool();
    }
  }
  // Calls use(line, its kind) for each line of the trace.
  template <typename Use>
  void each_line(Use&& use) const {
    const std::string before = "{\"kind\": \"";
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      expect(line.rfind(before, 0) == 0, "a line that begins with its kind: " + line);
      use(line, line.substr(before.size(), line.find('"', before.size()) - before.size()));
    }
  }
  // How many lines with `part` in them have each kind.
  std::map<std::string, int> kinds(const std::string& part) const {
    std::map<std::string, int> seen;
    each_line([&](const std::string& line, const std::string& kind) {
      if (line.find(part) != std::string::npos) ++seen[kind];
    });
    return seen;
  }
};

// Runs test(tool) with the library that the command line names. Only that one is ever attached.
template <typename Test>
int test_with_tool(int count, char** values, Test&& test) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY\n", values[0]);
    return 2;
  }
  unsetenv("NVTX_INJECTION64_PATH");
  const std::string name = std::string(values[0]).substr(std::string(values[0]).rfind('/') + 1);
  const Tool tool{values[1], name + "." + std::to_string(getpid()) + ".jsonl"};
  test(tool);
  std::remove(tool.file.c_str());
  if (failures() == 0) std::printf("%s: passed\n", name.c_str());
  return failures() == 0 ? 0 : 1;
}

}  // namespace nvspan_test
