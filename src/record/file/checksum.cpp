// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/checksum.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace nvspan::record {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // reversed

using Table = std::array<std::uint32_t, 256>;

constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (polynomial & (0u - (sum & 1)));
    tables[0][i] = sum;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t k = 1; k < 8; ++k) {
      tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 0xFF];
    }
  }
  return tables;
}
constexpr std::array<Table, 8> tables = make_tables();

std::uint64_t word_at(const unsigned char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__x86_64__) || (defined(__aarch64__) && defined(__linux__))
#define NVSPAN_HAVE_CRC_INSTRUCTION 1
#endif

#ifdef NVSPAN_HAVE_CRC_INSTRUCTION

// The instruction takes three cycles, and one can begin in each: three sums are computed at a time
// and combined through the effect that so many zero bytes have on a sum.
constexpr std::size_t stripe = 2048;

constexpr std::array<Table, 4> make_shifts() {
  std::array<std::uint32_t, 32> of_bit = {};
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t sum = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < stripe; ++i) sum = sum >> 8 ^ tables[0][sum & 0xFF];
    of_bit[bit] = sum;
  }
  std::array<Table, 4> shifts = {};
  for (std::size_t byte = 0; byte < 4; ++byte) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t sum = 0;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((i >> bit & 1) != 0) sum ^= of_bit[8 * byte + bit];
      }
      shifts[byte][i] = sum;
    }
  }
  return shifts;
}

constexpr std::array<Table, 4> shifts = make_shifts();

std::uint64_t shift(std::uint64_t sum) {
  return shifts[0][sum & 0xFF] ^ shifts[1][sum >> 8 & 0xFF] ^ shifts[2][sum >> 16 & 0xFF] ^
         shifts[3][sum >> 24 & 0xFF];
}

#if defined(__x86_64__)
#if defined(__clang__) && __clang_major__ >= 14  // where it is a feature of its own
#define NVSPAN_CRC_TARGET __attribute__((target("sse4.2,crc32")))
#else
#define NVSPAN_CRC_TARGET __attribute__((target("sse4.2")))
#endif
NVSPAN_CRC_TARGET inline std::uint64_t add_word(std::uint64_t sum, std::uint64_t word) {
  return _mm_crc32_u64(sum, word);
}
NVSPAN_CRC_TARGET inline std::uint64_t add_byte(std::uint64_t sum, unsigned char byte) {
  return _mm_crc32_u8(static_cast<std::uint32_t>(sum), byte);
}
bool has_instruction() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0;
}
#else
#define NVSPAN_CRC_TARGET __attribute__((target("+crc")))
NVSPAN_CRC_TARGET inline std::uint64_t add_word(std::uint64_t sum, std::uint64_t word) {
  return __crc32cd(static_cast<std::uint32_t>(sum), word);
}
NVSPAN_CRC_TARGET inline std::uint64_t add_byte(std::uint64_t sum, unsigned char byte) {
  return __crc32cb(static_cast<std::uint32_t>(sum), byte);
}
bool has_instruction() {
  constexpr unsigned long crc32 = 1ul << 7;  // HWCAP_CRC32
  return (::getauxval(AT_HWCAP) & crc32) != 0;
}
#endif

NVSPAN_CRC_TARGET std::uint32_t by_instruction(const void* data, std::size_t bytes,
                                               std::uint32_t before) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t sum = ~before;
  for (; bytes >= 3 * stripe; bytes -= 3 * stripe, at += 3 * stripe) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < stripe; i += 8) {
      sum = add_word(sum, word_at(at + i));
      second = add_word(second, word_at(at + stripe + i));
      third = add_word(third, word_at(at + 2 * stripe + i));
    }
    sum = shift(shift(sum) ^ second) ^ third;
  }
  for (; bytes >= 8; bytes -= 8, at += 8) sum = add_word(sum, word_at(at));
  for (; bytes != 0; --bytes, ++at) sum = add_byte(sum, *at);
  return ~static_cast<std::uint32_t>(sum);
}

#endif

}  // namespace

std::uint32_t crc32c_by_table(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t sum = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const std::uint64_t word = word_at(at) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= tables[7 - i][word >> 8 * i & 0xFF];
  }
  for (; bytes != 0; --bytes, ++at) sum = sum >> 8 ^ tables[0][(sum ^ *at) & 0xFF];
  return ~sum;
}

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
#ifdef NVSPAN_HAVE_CRC_INSTRUCTION
  static const bool instruction = has_instruction();
  if (instruction) return by_instruction(data, bytes, before);
#endif
  return crc32c_by_table(data, bytes, before);
}

std::uint32_t fixed_sum(const FileHeader& header) noexcept {
  const FileHeader fixed = fixed_header(header);
  return crc32c(&fixed, sizeof fixed);
}

std::uint32_t closing_sum(const FileHeader& header) noexcept {
  FileHeader closed = header;
  closed.closing_sum = 0;
  closed.in_hand = 0;
  const std::uint32_t sum = crc32c(&closed, sizeof closed);
  return sum != 0 ? sum : 1;
}

std::uint32_t sample_sum(const ClockSample& sample, std::uint64_t number) noexcept {
  return crc32c(&sample, sizeof sample, crc32c(&number, sizeof number));
}

std::uint64_t definition_word(DefinitionType type, std::size_t bytes, std::uint64_t sequence,
                              std::size_t offset, const void* body, std::size_t words) noexcept {
  const std::uint64_t word = static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(bytes)
                                                                    << 32;
  const std::uint64_t head[] = {sequence << 32 | offset, word};
  const std::uint32_t sum = crc32c(body, words * sizeof word, crc32c(head, sizeof head));
  return word | static_cast<std::uint64_t>(sum & 0xFFFFFF) << 8;
}

}  // namespace nvspan::record
