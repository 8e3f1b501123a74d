// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads of every kind as JSON, and schemas and bytes by a generator with a fixed seed, of which
// nothing is expected but that they touch no memory of others and come to an end.

#include "core/text/json_text.hpp"
#include "trace/sinks/payload_text.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"
#include "payload_fixture.hpp"

namespace {

using namespace nvspan::nvtx::entry_type;
using namespace nvspan::nvtx::entry_flag;
using namespace nvspan::nvtx::schema_type;
using nvspan::trace::PayloadEntry;
using nvspan::trace::PayloadPiece;
using nvspan::trace::PayloadResult;
using nvspan_test::base_id;
using nvspan_test::Bytes;
using nvspan_test::entry;
using nvspan_test::Fixture;

void test_numbers() {
  Fixture f;
  const auto one = [&](std::uint64_t of, const Bytes& bytes) { return f.read(of, bytes); };
  EXPECT_EQUAL(one(int8, Bytes().add(std::int8_t{-3})), "\"value\": -3");
  EXPECT_EQUAL(one(uint64, Bytes().add(~std::uint64_t{0})), "\"value\": 18446744073709551615");
  EXPECT_EQUAL(one(int32, Bytes().add(7).add(-8).add(std::int8_t{1})), "\"value\": [7, -8]");
  EXPECT_EQUAL(one(float32, Bytes().add(0.1f)), "\"value\": 0.1");
  EXPECT_EQUAL(one(float64, Bytes().add(-0.25)), "\"value\": -0.25");
  EXPECT_EQUAL(one(float16, Bytes().add(std::uint16_t{0x3555})), "\"value\": 0.333251953125");
  EXPECT_EQUAL(one(float16, Bytes().add(std::uint16_t{0xFC00})), "\"value\": \"-inf\"");
  EXPECT_EQUAL(one(float16, Bytes().add(std::uint16_t{1})), "\"value\": 5.9604644775390625e-08");
  EXPECT_EQUAL(one(bf16, Bytes().add(std::uint16_t{0x4049})), "\"value\": 3.140625");
  EXPECT_EQUAL(one(float128, Bytes().add(std::uint64_t{0}).add(std::uint64_t{0x3FFF800000000000})),
               "\"value\": 1.5");
  EXPECT_EQUAL(one(c_longdouble, Bytes().add(2.5L).pad(16)), "\"value\": 2.5");
  EXPECT_EQUAL(one(int128, Bytes().add(std::int64_t{-2}).add(std::int64_t{-1})), "\"value\": -2");
  EXPECT_EQUAL(one(uint128, Bytes().add(std::uint64_t{1}).add(std::uint64_t{1})),
               "\"value\": \"01000000000000000100000000000000\"");
  EXPECT_EQUAL(one(raw, Bytes().add("\x01\xff", 2)), "\"value\": \"01ff\"");
  EXPECT_EQUAL(one(cstring_utf8, Bytes().add("text\0more", 9)), "\"value\": \"text\"");
  EXPECT_EQUAL(one(cstring_utf16, Bytes().add(u'\u00e9').add(std::uint32_t{0xDE00D83D})),
               "\"value\": \"\\u00e9\\ud83d\\ude00\"");
  EXPECT_EQUAL(one(cstring_utf32, Bytes().add(U'x').add(U'\0').add(U'y')), "\"value\": \"x\"");
  EXPECT_EQUAL(one(registered_string, Bytes().add(std::uint64_t{77})), "\"value\": \"registered\"");
  EXPECT_EQUAL(one(registered_string, Bytes().add(std::uint64_t{78})), "\"value\": 78");
  EXPECT_EQUAL(one(category, Bytes().add(5)), "\"value\": \"data\"");
  EXPECT_EQUAL(one(int64, Bytes().add(1)), "size does not fit");
  EXPECT_EQUAL(one(999, Bytes().add(1)), "unknown schema");
  EXPECT_EQUAL(one(base_id + 99, Bytes().add(1)), "unknown schema");
  EXPECT_EQUAL(one(referenced, Bytes().add(1)), "");
}

void test_structs() {
  Fixture f;
  const std::uint64_t pair = f.schema({entry("a", int8), entry("b", float64)}, fixed_schema, 16);
  const Bytes of_pair = Bytes().add(std::int8_t{1}).pad(8).add(0.5);
  EXPECT_EQUAL(f.read(pair, of_pair), "\"a\": 1, \"b\": 0.5");
  EXPECT_EQUAL(f.read(pair, Bytes().add(1)), "size does not fit");
  const std::uint64_t packed =
      f.schema({entry("a", int8), entry("b", float64)}, fixed_schema, 0, 0, 1);
  EXPECT_EQUAL(f.read(packed, Bytes().add(std::int8_t{1}).add(0.5)), "\"a\": 1, \"b\": 0.5");
  const std::uint64_t outer = f.schema({entry("first", pair), entry("n", int32, hide),
                                        entry("more", pair, fixed_array, 2), entry(nullptr, uint8)},
                                       fixed_schema);
  EXPECT_EQUAL(f.read(outer, Bytes()
                                 .add(of_pair.text.data(), 16)
                                 .add(9)
                                 .pad(24)
                                 .add(of_pair.text.data(), 16)
                                 .add(of_pair.text.data(), 16)
                                 .add(std::int8_t{4})
                                 .pad(64)),
               "\"first\": {\"a\": 1, \"b\": 0.5}, \"more\": [{\"a\": 1, \"b\": 0.5}, {\"a\": 1, "
               "\"b\": 0.5}], "
               "\"3\": 4");
  // NumPy's names of types stand for nothing.
  const std::uint64_t number = f.schema({entry("int64", int64)}, fixed_schema, 8);
  const std::uint64_t array =
      f.schema({entry("size", uint64), entry("data", number, length_index, 0)}, dynamic_schema);
  EXPECT_EQUAL(
      f.read(array, Bytes().add(std::uint64_t{2}).add(std::int64_t{1}).add(std::int64_t{-1})),
      "\"size\": 2, \"data\": [1, -1]");
  EXPECT_EQUAL(f.read(number, Bytes().add(std::int64_t{3})), "\"value\": 3");
  const std::uint64_t event = f.schema(
      {entry("at", int64, mark), entry("name", cstring_utf8, message, 4), entry("loss", float32)},
      fixed_schema, 16, 4 << 3);
  const Bytes of_event = Bytes().add(std::int64_t{1}).add("step", 4).add(0.5f);
  EXPECT_EQUAL(f.read(event, of_event), "\"at\": 1, \"name\": \"step\", \"loss\": 0.5");
  EXPECT_EQUAL(f.read(event, of_event, true), "\"loss\": 0.5");
}

void test_arrays_and_text() {
  Fixture f;
  const std::uint64_t made = f.schema({
      entry("n", int32),
      entry("numbers", int16, length_index, 0),
      entry("text", cstring_utf8, zero_terminated),
      entry("fixed", cstring, 0, 4),
      entry("chars", c_char, fixed_array, 3),
      entry("bytes", byte, length_index, 0),
      entry("ended", uint8, zero_terminated),
      entry("last", uint8),
  });
  EXPECT_EQUAL(f.read(made, Bytes()
                                .add(2)
                                .add(std::int16_t{5})
                                .add(std::int16_t{-6})
                                .add("ab\0", 3)
                                .add("xy\0z", 4)
                                .add("uvw", 3)
                                .add("\x0a\x0b", 2)
                                .add("\1\2\0", 3)
                                .add("\7", 1)),
               "\"n\": 2, \"numbers\": [5, -6], \"text\": \"ab\", \"fixed\": \"xy\", "
               "\"chars\": \"uvw\", \"bytes\": \"0a0b\", \"ended\": [1, 2], \"last\": 7");
  EXPECT_EQUAL(f.read(made, Bytes().add(2).add(std::int16_t{5})), "size does not fit");
  EXPECT_EQUAL(f.read(made, Bytes().add(-1)), "size does not fit");  // no text
  const std::uint64_t matrix =
      f.schema({entry("shape", uint32, fixed_array | hide, 2), entry("m", uint8, length_index, 0)});
  EXPECT_EQUAL(f.read(matrix, Bytes().add(2).add(3).add("\1\2\3\4\5\6", 6)),
               "\"m\": [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQUAL(f.read(matrix, Bytes().add(~0u).add(~0u).add("\1\2\3\4\5\6", 6)),
               "size does not fit");
  const std::uint64_t other = f.schema({entry("of_piece", uint16, length_payload, 1)});
  const Bytes numbers = Bytes().add(std::uint32_t{0x00020001});
  const Bytes lengths = Bytes().add(std::uint64_t{2});
  EXPECT_EQUAL(f.read({{other, numbers.text}, {uint64, lengths.text}}),
               "\"of_piece\": [1, 2], \"value\": 2");
  EXPECT_EQUAL(f.read({{other, numbers.text}}), "size does not fit");
  const std::uint64_t pointed =
      f.schema({entry("p", int32, pointer), entry("s", cstring_utf8), entry("next", uint8)});
  EXPECT_EQUAL(f.read(pointed, Bytes().add(std::uint64_t{64}).add(std::uint64_t{65}).add("\1", 1)),
               "\"p\": 64, \"s\": 65, \"next\": 1");
}

void test_enums_and_unions() {
  Fixture f;
  const std::uint64_t op = f.enumeration({{"sum", 0, false}, {"max", 2, false}}, 4);
  const std::uint64_t bits = f.enumeration({{"r", 1, true}, {"w", 2, true}, {"x", 4, true}}, 1);
  const std::uint64_t nccl =
      f.schema({entry("comm", uint64), entry("op", op), entry("mode", bits)}, fixed_schema, 16);
  const auto call = [&](std::uint32_t what, std::uint8_t mode) {
    return f.read(nccl, Bytes().add(std::uint64_t{9}).add(what).add(mode).pad(16));
  };
  EXPECT_EQUAL(call(2, 3), "\"comm\": 9, \"op\": \"max\", \"mode\": \"r|w\"");
  EXPECT_EQUAL(call(1, 9), "\"comm\": 9, \"op\": 1, \"mode\": \"r|8\"");
  EXPECT_EQUAL(call(0, 0), "\"comm\": 9, \"op\": \"sum\", \"mode\": 0");
  EXPECT_EQUAL(f.read(op, Bytes().add(2)), "\"value\": \"max\"");
  const std::uint64_t either = f.schema({entry("i", int64), entry("f", float32)}, union_schema, 8);
  const std::uint64_t chosen = f.schema(
      {entry("which", uint8), entry("u", either, 0, 0), entry("after", uint8)}, fixed_schema);
  const auto variant = [&](std::uint8_t which) {
    return f.read(chosen, Bytes().add(which).pad(8).add(0.5f).pad(16).add("\3", 1).pad(24));
  };
  EXPECT_EQUAL(variant(1), "\"which\": 1, \"u\": {\"f\": 0.5}, \"after\": 3");
  EXPECT_EQUAL(variant(0), "\"which\": 0, \"u\": {\"i\": 1056964608}, \"after\": 3");
  EXPECT_EQUAL(variant(2), "size does not fit");
  EXPECT_EQUAL(f.read(either, Bytes().add(0.5)), "not supported");
}

void test_hostile() {
  Fixture f;
  // One that holds itself, once it is registered anew.
  const std::uint64_t inner = f.schema({entry("x", int8)}, fixed_schema, 8);
  f.next = inner;
  f.schema({entry("x", inner), entry("y", inner)}, fixed_schema, 8);
  EXPECT_EQUAL(f.read(inner, Bytes().pad(64)), "too deep");
  f.next = inner + 1;
  const std::uint64_t nothing = f.schema({}, fixed_schema);
  const std::uint64_t many = f.schema({entry("all", nothing, fixed_array, ~std::uint64_t{0})});
  EXPECT_EQUAL(f.read(many, Bytes().pad(8)), "size does not fit");
  std::uint64_t level = f.schema({entry("a", uint8), entry("b", uint8)}, dynamic_schema);
  for (int i = 0; i < 15; ++i) {
    level = f.schema({entry("a", level, fixed_array, 9), entry("b", level, fixed_array, 9)},
                     dynamic_schema);
  }
  EXPECT_EQUAL(f.read(level, Bytes().pad(1 << 20)), "too large");
  const std::string name(1 << 16, 'n');
  const std::uint64_t wordy = f.schema({entry(name.c_str(), nothing), entry("x", uint8)});
  const std::uint64_t words = f.schema({entry("w", wordy, fixed_array, 10000)});
  EXPECT_EQUAL(f.read(words, Bytes().pad(10000)), "too large");
  const std::uint64_t far = f.schema({entry("x", uint8, 0, 0, ~std::uint64_t{0})});
  EXPECT_EQUAL(f.read(far, Bytes().pad(8)), "size does not fit");
  const std::uint64_t huge = f.schema({entry("x", uint8)}, fixed_schema, ~std::uint64_t{0});
  EXPECT_EQUAL(f.read(huge, Bytes().pad(8)), "size does not fit");
  const std::uint64_t forward = f.schema({entry("x", uint8, length_index, 1), entry("n", uint8)});
  EXPECT_EQUAL(f.read(forward, Bytes().pad(8)), "size does not fit");
  const std::uint64_t offsets = f.schema({entry("x", uint8, offset_from_base)});
  EXPECT_EQUAL(f.read(offsets, Bytes().pad(8)), "not supported");
  const std::uint64_t cut = f.schema({entry("x", cstring_utf8, zero_terminated)});
  EXPECT_EQUAL(f.read(cut, Bytes().add("abc", 3)), "size does not fit");
}

void test_rows() {
  Fixture f;
  const auto rows = [&](std::uint64_t schema, const Bytes& bytes) {
    nvspan::core::LineBuffer line(f.pool);
    line.add(' ');
    const PayloadResult result =
        add_json_rows(line, f.decoder, f.names, nvspan::trace::PayloadRows{1, schema, bytes.text});
    return std::string(line.data() + 1, line.size() - 1) + "/" +
           std::string(payload_result_text(result));
  };
  const std::uint64_t fixed = f.schema({entry("a", int32)}, fixed_schema, 4);
  EXPECT_EQUAL(rows(fixed, Bytes().add(1).add(2)), "{\"a\": 1}, {\"a\": 2}/");
  EXPECT_EQUAL(rows(fixed, Bytes().add(1).add("x", 1)), "{\"a\": 1}/size does not fit");
  const std::uint64_t dynamic = f.schema({entry("t", cstring_utf8, zero_terminated)});
  EXPECT_EQUAL(rows(dynamic, Bytes().add("a\0bc\0", 5)), "{\"t\": \"a\"}, {\"t\": \"bc\"}/");
  const std::uint64_t empty = f.schema({});
  EXPECT_EQUAL(rows(empty, Bytes().add(1)), "/size does not fit");
  EXPECT_EQUAL(rows(float32, Bytes().add(0.5f).add(0.25f)), "0.5, 0.25/");
}

std::string first_columns(Fixture& f, std::uint64_t schema, const Bytes& bytes) {
  nvspan::core::LineBuffer line(f.pool);
  nvspan::trace::PayloadLine text(line, 24);
  const PayloadPiece piece{schema, bytes.text};
  f.decoder.decode({1, f.names, text}, &piece, 1);
  return std::string(line.data(), line.size());
}

void test_line() {
  Fixture f;
  const std::uint64_t made = f.schema(
      {entry("step", int32), entry("loss", float32), entry("shape", int32, fixed_array, 2)},
      fixed_schema);
  const Bytes bytes = Bytes().add(3).add(0.5f).add(8).add(128);
  EXPECT_EQUAL(first_columns(f, made, bytes), "step=3, loss=0.5, shape=[...");
}

std::uint64_t state = 0x9E3779B97F4A7C15u;

std::uint64_t next_number() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

std::uint64_t some(std::uint64_t below) { return next_number() % below; }

void test_random() {
  constexpr int tables = 60, payloads = 100;
  constexpr std::uint64_t schemas = 24;
  for (int i = 0; i < tables; ++i) {
    Fixture f;
    for (std::uint64_t n = 0; n < schemas; ++n) {
      std::vector<PayloadEntry> entries;
      for (std::uint64_t count = some(6); count != 0; --count) {
        const std::uint64_t of = some(3) == 0 ? base_id + some(schemas) : some(110);
        const std::uint64_t large = some(8) == 0 ? next_number() : 0;
        entries.push_back(entry(some(2) == 0 ? "x" : nullptr, of,
                                some(5) << 4 | (some(20) == 0 ? next_number() : 0),
                                large != 0 ? large : some(9), some(3) == 0 ? some(40) : large));
      }
      if (some(6) == 0) {
        f.enumeration({{"a", some(4), some(2) == 0}, {"b", next_number(), true}}, some(10));
      } else {
        f.schema(entries, some(5), some(4) == 0 ? some(100) : 0, some(64), some(4));
      }
      // Some of those that are known become others.
      if (some(8) == 0) f.next = base_id + some(n + 1);
      if (f.next < base_id + n + 1) f.next = base_id + n + 1;
    }
    for (int n = 0; n < payloads; ++n) {
      std::string bytes(some(200), '\0');
      for (char& each : bytes) each = some(3) == 0 ? '\0' : static_cast<char>(some(5));
      std::string others(some(20), '\1');
      nvspan::core::LineBuffer line(f.pool);
      nvspan::trace::PayloadJson json(line);
      const PayloadPiece pieces[] = {{base_id + some(schemas), bytes}, {some(110), others}};
      f.decoder.decode({1, f.names, json, some(2) == 0}, pieces, 2);
      line.clear();
      add_json_rows(line, f.decoder, f.names,
                    nvspan::trace::PayloadRows{1, base_id + some(schemas), bytes});
    }
  }
}

}  // namespace

int main() {
  test_numbers();
  test_structs();
  test_arrays_and_text();
  test_enums_and_unions();
  test_hostile();
  test_rows();
  test_line();
  test_random();
  if (nvspan_test::failures() == 0) std::puts("payloads are decoded");
  return nvspan_test::failures() == 0 ? 0 : 1;
}
