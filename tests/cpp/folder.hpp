// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "expect.hpp"

namespace nvspan_test {

// Removed with all that is in it.
class Folder {
 public:
  Folder() { EXPECT(::mkdtemp(name_) != nullptr); }
  ~Folder() { std::filesystem::remove_all(name_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const char* file = "test.nvspan") const {
    return std::string(name_) + "/" + file;
  }

 private:
  char name_[24] = "/tmp/nvspan-test-XXXXXX";
};

}  // namespace nvspan_test
