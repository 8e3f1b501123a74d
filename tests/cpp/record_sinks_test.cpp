// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The sinks, the text of numbers and names, and the memory under them.
//
//   g++ -std=c++17 -g -fsanitize=address,undefined -Isrc tests/cpp/record_sinks_test.cpp
//       src/{core,trace}/*/*.cpp -o record_sinks_test

#include "core/memory/page_pool.hpp"
#include "core/text/number_text.hpp"
#include "core/text/printable.hpp"
#include "core/text/utf8.hpp"
#include "trace/sinks/jsonl_sink.hpp"
#include "trace/sinks/text_sink.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

class MemoryOutput final : public nvspan::trace::Output {
 public:
  bool write(const char* data, std::size_t size) noexcept override {
    text.assign(data, size);
    ++writes;
    return working;
  }
  bool is_terminal() const noexcept override { return false; }

  std::string text;
  int writes = 0;
  bool working = true;
};

template <typename Add>
std::string built(Add&& add) {
  nvspan::core::PagePool pool;
  nvspan::core::LineBuffer line(pool);
  add(line);
  return {line.data() == nullptr ? "" : line.data(), line.size()};
}

std::string of_double(double value) {
  return built([&](nvspan::core::LineBuffer& line) {
    if (!nvspan::core::add_real(line, value)) line.add(nvspan::core::not_finite_name(value));
  });
}

void test_numbers() {
  EXPECT_EQUAL(of_double(0.0), "0.0");
  EXPECT_EQUAL(of_double(-0.0), "-0.0");
  EXPECT_EQUAL(of_double(1.0), "1.0");
  EXPECT_EQUAL(of_double(0.1), "0.1");
  EXPECT_EQUAL(of_double(1e300), "1e+300");
  EXPECT_EQUAL(of_double(1.0 / 3), "0.3333333333333333");
  EXPECT_EQUAL(of_double(std::numeric_limits<double>::denorm_min()), "5e-324");
  // As Python's repr() lays them out, and the digits that it takes.
  EXPECT_EQUAL(of_double(1e15), "1000000000000000.0");
  EXPECT_EQUAL(of_double(1e16), "1e+16");
  EXPECT_EQUAL(of_double(123456789012345678), "1.2345678901234568e+17");
  EXPECT_EQUAL(of_double(0.0001), "0.0001");
  EXPECT_EQUAL(of_double(-1.5e-5), "-1.5e-05");
  EXPECT_EQUAL(of_double(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQUAL(of_double(0x1p-24), "5.9604644775390625e-08");
  EXPECT_EQUAL(of_double(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
  EXPECT_EQUAL(of_double(std::nan("")), "nan");
  EXPECT_EQUAL(of_double(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQUAL(built([](nvspan::core::LineBuffer& line) { nvspan::core::add_real(line, 0.1f); }),
               "0.1");
  EXPECT_EQUAL(built([](nvspan::core::LineBuffer& line) {
                 line.add_signed(std::numeric_limits<std::int64_t>::min());
                 line.add(' ');
                 line.add_unsigned(std::numeric_limits<std::uint64_t>::max());
               }),
               "-9223372036854775808 18446744073709551615");
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) EXPECT(std::strtod(of_double(value).c_str(), nullptr) == value);
  }
}

std::string printable(const std::string& text, std::size_t limit = 1000) {
  return built(
      [&](nvspan::core::LineBuffer& line) { nvspan::core::add_printable(line, text, limit); });
}

void test_printable() {
  EXPECT_EQUAL(printable("plain"), "plain");
  EXPECT_EQUAL(printable("a\nb\tc\rd\x01"), "a\\nb\\tc\\rd\\x01");
  EXPECT_EQUAL(printable("\xC3\xA9\xFF"), "\xC3\xA9\\xff");
  EXPECT_EQUAL(printable("\xE2\x80\xAE"), "\\u202e");
  EXPECT_EQUAL(printable("abcdef", 3), "abc... (6 bytes)");
  EXPECT_EQUAL(printable("abc", 3), "abc");
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = nvspan::core::decode_utf8(text, code_point);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void test_random_bytes() {
  std::mt19937 random(2);
  nvspan::core::PagePool pool;
  MemoryOutput output;
  nvspan::trace::JsonlSink jsonl(output, pool);
  nvspan::trace::TextSink text(output, pool, nvspan::trace::TextStyle{});
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (std::size_t left = random() % 12; left > 0; --left) {
      const unsigned interesting[] = {0xC3, 0xED, 0xF4, 0x80, 0xBF, 0xA0, 0xE0, 0xF0};
      name.push_back(static_cast<char>(random() % 3 == 0 ? random() : interesting[random() % 8]));
    }
    nvspan::trace::Event event;
    event.has_domain = true;
    event.message = name;
    event.message_type = nvspan::trace::MessageType::ascii;
    EXPECT(jsonl.write(event));
    for (const char byte : output.text) EXPECT(byte == '\n' || (byte >= 0x20 && byte < 0x7F));
    EXPECT(text.write(event));
    EXPECT(valid_utf8(output.text));
    for (const char byte : output.text) {
      EXPECT(byte == '\n' || static_cast<unsigned char>(byte) >= 0x20);
    }
    EXPECT(output.text.find('\n') == output.text.size() - 1);
  }
}

nvspan::trace::Event push_event() {
  nvspan::trace::Event event;
  event.kind = nvspan::trace::EventKind::push;
  event.pid = 12;
  event.tid = 34;
  event.ts = 5000001000;
  event.has_domain = true;
  event.domain = "dom";
  event.message = "name";
  event.message_type = nvspan::trace::MessageType::registered;
  event.has_color = true;
  event.color = 0xFF010203;
  event.category = 4;
  event.category_name = "cat";
  event.payload_type = nvspan::trace::PayloadType::u64;
  event.payload_bits = 7;
  event.depth = 2;
  event.nesting = 1;
  return event;
}

void test_jsonl() {
  nvspan::core::PagePool pool;
  MemoryOutput output;
  nvspan::trace::JsonlSink sink(output, pool);
  EXPECT(sink.write(push_event()));
  EXPECT_EQUAL(output.text,
               "{\"kind\": \"push\", \"pid\": 12, \"tid\": 34, \"ts\": 5000001000, "
               "\"domain\": \"dom\", \"message\": \"name\", \"message_type\": \"registered\", "
               "\"color\": 4278256131, \"category\": 4, \"category_name\": \"cat\", "
               "\"payload\": 7, \"payload_type\": \"u64\", \"depth\": 2}\n");
  const nvspan::trace::Field pair[] = {nvspan::trace::Field::number(nullptr, -1),
                                       nvspan::trace::Field::null(nullptr)};
  const nvspan::trace::Field fields[] = {
      nvspan::trace::Field::flag("flag", true),
      nvspan::trace::Field::decimal("real", std::nan("")),
      nvspan::trace::Field::bytes("bytes", std::string_view("\0\xFF", 2)),
      nvspan::trace::Field::bytes("none", std::string_view()),
      nvspan::trace::Field::list("list", pair, 2),
      nvspan::trace::Field::object("empty", nullptr, 0),
  };
  nvspan::trace::Event event;
  event.kind = nvspan::trace::EventKind::init;
  event.fields = fields;
  event.field_count = 6;
  EXPECT(sink.write(event));
  EXPECT_EQUAL(output.text,
               "{\"kind\": \"init\", \"pid\": 0, \"tid\": 0, \"ts\": 0, \"flag\": true, "
               "\"real\": \"nan\", \"bytes\": \"00ff\", \"none\": null, \"list\": [-1, null], "
               "\"empty\": {}}\n");
  EXPECT(output.writes == 2);
  output.working = false;
  EXPECT(!sink.write(event));
}

std::string text_of(const nvspan::trace::Event& event, nvspan::trace::TextStyle style) {
  nvspan::core::PagePool pool;
  MemoryOutput output;
  nvspan::trace::TextSink sink(output, pool, style);
  EXPECT(sink.write(event));
  return output.text;
}

void test_text() {
  nvspan::trace::TextStyle style;
  style.unicode = false;
  style.origin = 2000000000;
  nvspan::trace::Event event = push_event();
  EXPECT_EQUAL(text_of(event, style),
               "   3.000001               12 34           |  +- name                      "
               "[dom]  category=cat  payload=7\n");
  event.kind = nvspan::trace::EventKind::pop;
  event.duration = 1234567;
  event.has_color = false;
  event.category = 0;
  event.payload_type = nvspan::trace::PayloadType::none;
  event.thread_name = "loader";
  EXPECT_EQUAL(text_of(event, style),
               "   3.000001  1.23 ms      12 loader       |  `- name                      "
               "[dom]\n");
  for (const auto& [duration, wanted] :
       std::vector<std::pair<std::int64_t, std::string>>{{0, "     0 ns"},
                                                         {999, "   999 ns"},
                                                         {1000, "  1.00 us"},
                                                         {59949999999, "  59.9 s "},
                                                         {99949999999, "  99.9 s "},
                                                         {99950000000, "   100 s "},
                                                         {999499999, "   999 ms"},
                                                         {999500000, "  1.00 s "},
                                                         {59999999999, "  60.0 s "},
                                                         {1234567890123, "  1235 s "},
                                                         {1234567890123456, "1234568 s "}}) {
    event.duration = duration;
    EXPECT(text_of(event, style).find(wanted) != std::string::npos);
  }
  event.kind = nvspan::trace::EventKind::register_string;
  EXPECT_EQUAL(text_of(event, style), "");
}

void test_pool() {
  nvspan::core::PagePool pool;
  std::mt19937 random(3);
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int i = 0; i < 20000; ++i) {
    if (blocks.size() > 200 || (!blocks.empty() && random() % 2 == 0)) {
      const std::size_t at = random() % blocks.size();
      const auto [block, size] = blocks[at];
      for (std::size_t j = 0; j < size; j += 61) EXPECT(block[j] == (size & 0xFF));
      pool.deallocate(block, size);
      blocks[at] = blocks.back();
      blocks.pop_back();
      continue;
    }
    const std::size_t size = 1 + random() % (random() % 10 == 0 ? 100000 : 300);
    auto* block = static_cast<unsigned char*>(pool.allocate(size));
    EXPECT(reinterpret_cast<std::uintptr_t>(block) % 32 == 0);
    std::memset(block, static_cast<int>(size & 0xFF), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) pool.deallocate(block, size);
  EXPECT(pool.mapped_bytes() < 64u * 1024 * 1024);
  nvspan::core::PoolString grown{nvspan::core::PoolAllocator<char>(pool)};
  for (int i = 0; i < 100000; ++i) grown.push_back('x');
  EXPECT(grown.size() == 100000);
}

}  // namespace

int main() {
  test_numbers();
  test_printable();
  test_random_bytes();
  test_jsonl();
  test_text();
  test_pool();
  std::printf("%s\n", nvspan_test::failures() == 0 ? "ok" : "failed");
  return nvspan_test::failures() == 0 ? 0 : 1;
}
