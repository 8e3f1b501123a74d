// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chunks/file_header.hpp"

#include <cstdio>

namespace nvspan::reader {

bool read_file_header(const std::string& path, record::FileHeader& header) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const bool read = std::fread(static_cast<void*>(&header), sizeof header, 1, file) == 1;
  std::fclose(file);
  return read && header.magic == record::file_magic;
}

}  // namespace nvspan::reader
