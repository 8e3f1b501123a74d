// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// CRC32C against the values of RFC 3720, and the processor's instruction against the tables.

#include "record/file/checksum.hpp"

#include "expect.hpp"
#include <cstdio>
#include <cstring>
#include <vector>

using nvspan_test::expect;
using nvspan_test::failures;

int main() {
  std::vector<unsigned char> bytes(32, 0);
  expect(nvspan::record::crc32c(bytes.data(), 32) == 0x8A9136AA, "zeros");
  bytes.assign(32, 0xFF);
  expect(nvspan::record::crc32c(bytes.data(), 32) == 0x62A8AB43, "ones");
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(i);
  expect(nvspan::record::crc32c(bytes.data(), 32) == 0x46DD794E, "counting");
  expect(nvspan::record::crc32c("123456789", 9) == 0xE3069283, "digits");
  expect(nvspan::record::crc32c_by_table("123456789", 9) == 0xE3069283, "digits by table");

  bytes.resize(50000);
  std::uint32_t state = 1;
  for (unsigned char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(state >> 24);
  }
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 7) {
    for (std::size_t start = 0; start < 9 && start <= size; ++start) {
      const unsigned char* from = bytes.data() + start;
      const std::uint32_t whole = nvspan::record::crc32c_by_table(from, size - start);
      expect(nvspan::record::crc32c(from, size - start) == whole, "instruction");
      const std::size_t part = (size - start) / 3;
      const std::uint32_t first = nvspan::record::crc32c(from, part);
      expect(nvspan::record::crc32c(from + part, size - start - part, first) == whole,
             "in two parts");
    }
  }
  if (failures() == 0) std::printf("ok\n");
  return failures() == 0 ? 0 : 1;
}
