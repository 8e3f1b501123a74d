// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a test in C++ expects: each line that is not so is said on standard error, and failures()
// counts them for main().

#pragma once

#include <cstdio>
#include <string>

namespace nvspan_test {

inline int& failures() {
  static int count = 0;
  return count;
}

inline void expect_equal(const std::string& found, const std::string& wanted, int line) {
  if (found == wanted) return;
  std::fprintf(stderr, "line %d:\n  found  %s\n  wanted %s\n", line, found.c_str(), wanted.c_str());
  ++failures();
}

inline void expect(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  ++failures();
}

inline void expect(bool condition, const char* text, int line) {
  if (condition) return;
  std::fprintf(stderr, "line %d: not true: %s\n", line, text);
  ++failures();
}

}  // namespace nvspan_test

#define EXPECT_EQUAL(found, wanted) nvspan_test::expect_equal(found, wanted, __LINE__)
#define EXPECT(condition) nvspan_test::expect(condition, #condition, __LINE__)
