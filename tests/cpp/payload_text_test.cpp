// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Decoded payloads as text: a line for people that has few columns, JSON for programs, and rows.

#include "trace/sinks/payload_text.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "expect.hpp"
#include "payload_fixture.hpp"

namespace {

using namespace nvspan::nvtx::entry_type;
using namespace nvspan::nvtx::entry_flag;
using namespace nvspan::nvtx::schema_type;
using nvspan::core::LineBuffer;
using nvspan::trace::PayloadPiece;
using nvspan_test::Bytes;
using nvspan_test::entry;
using nvspan_test::Fixture;

// The text, and how many columns it is said to take.
std::string line_of(Fixture& f, std::uint64_t schema, const Bytes& bytes, std::size_t columns) {
  LineBuffer line(f.pool);
  nvspan::trace::PayloadLine text(line, columns);
  const PayloadPiece piece{schema, bytes.text};
  f.decoder.decode({1, f.names, text}, &piece, 1);
  return std::string(line.data(), line.size()) + '|' + std::to_string(text.columns());
}

void a_line_ends_where_it_is_full() {
  Fixture f;
  const std::uint64_t inner = f.schema({entry("a", int8), entry("b", int8)}, fixed_schema, 2);
  const std::uint64_t outer =
      f.schema({entry("n", int8), entry("in", inner), entry("m", int8)}, fixed_schema, 4);
  const Bytes bytes = Bytes().add("\x01\x02\x03\x04", 4);
  EXPECT_EQUAL(line_of(f, outer, bytes, 80), "n=1, in={a=2, b=3}, m=4|23");
  EXPECT_EQUAL(line_of(f, outer, bytes, 23), "n=1, in={a=2, b=3}, m=4|23");
  // What is full neither opens nor closes anything more.
  EXPECT_EQUAL(line_of(f, outer, bytes, 13), "n=1, in={a=2, ...|17");
  EXPECT_EQUAL(line_of(f, outer, bytes, 5), "n=1, ...|8");
  EXPECT_EQUAL(line_of(f, outer, bytes, 0), "...|3");
}

void a_line_has_no_control_characters_and_short_bytes() {
  Fixture f;
  const std::uint64_t text =
      f.schema({entry("t\n", cstring_utf8, fixed_array, 3)}, fixed_schema, 3);
  EXPECT_EQUAL(line_of(f, text,
                       Bytes().add("a\x1b"
                                   "b",
                                   3),
                       80),
               "t\\n=a\\x1bb|10");
  const std::uint64_t bytes = f.schema({entry("raw", byte, fixed_array, 18)}, fixed_schema, 18);
  EXPECT_EQUAL(line_of(f, bytes, Bytes().pad(18), 80), "raw=" + std::string(32, '0') + "...|39");
}

void reals_have_the_digits_of_their_type() {
  Fixture f;
  const std::uint64_t reals =
      f.schema({entry("f", float32), entry("d", float64, 0, 0, 8)}, fixed_schema, 16);
  const auto bytes = [](float single, double twice) {
    return Bytes().add(single).pad(8).add(twice);
  };
  EXPECT_EQUAL(line_of(f, reals, bytes(0.1f, 0.1), 80), "f=0.1, d=0.1|12");
  EXPECT_EQUAL(f.read(reals, bytes(0.1f, static_cast<double>(0.1f))),
               "\"f\": 0.1, \"d\": 0.10000000149011612");
  EXPECT_EQUAL(line_of(f, reals, bytes(-INFINITY, NAN), 80), "f=-inf, d=nan|13");
  EXPECT_EQUAL(f.read(reals, bytes(INFINITY, NAN)), "\"f\": \"inf\", \"d\": \"nan\"");
}

void known_names_stand_for_numbers() {
  Fixture f;
  const std::uint64_t color = f.enumeration({{"red", 1, false}, {"blue", 2, false}}, 4);
  const std::uint64_t schema =
      f.schema({entry("c", color), entry("k", category), entry("s", registered_string, 0, 0, 8)},
               fixed_schema, 16);
  const Bytes known = Bytes().add(2).add(5).add(std::uint64_t{77});
  EXPECT_EQUAL(line_of(f, schema, known, 80), "c=blue, k=data, s=registered|28");
  EXPECT_EQUAL(f.read(schema, known), "\"c\": \"blue\", \"k\": \"data\", \"s\": \"registered\"");
  const Bytes unknown = Bytes().add(3).add(6).add(std::uint64_t{78});
  EXPECT_EQUAL(line_of(f, schema, unknown, 80), "c=3, k=6, s=78|14");
  EXPECT_EQUAL(f.read(schema, unknown), "\"c\": 3, \"k\": 6, \"s\": 78");
}

std::string rows_of(Fixture& f, std::uint64_t schema, const Bytes& bytes) {
  LineBuffer line(f.pool);
  line.add('[');
  const auto result =
      add_json_rows(line, f.decoder, f.names, nvspan::trace::PayloadRows{1, schema, bytes.text});
  return std::string(line.data(), line.size()) + ' ' +
         std::string(nvspan::trace::payload_result_text(result));
}

void rows_before_a_broken_one_stay() {
  Fixture f;
  const std::uint64_t sized =
      f.schema({entry("n", uint8), entry("v", uint8, length_index, 0)}, dynamic_schema);
  EXPECT_EQUAL(rows_of(f, sized, Bytes().add("\x01\x07\x02\x08\x09", 5)),
               "[{\"n\": 1, \"v\": [7]}, {\"n\": 2, \"v\": [8, 9]} ");
  EXPECT_EQUAL(rows_of(f, sized, Bytes().add("\x01\x07\x03\x08\x09", 5)),
               "[{\"n\": 1, \"v\": [7]} size does not fit");
  EXPECT_EQUAL(rows_of(f, int16, Bytes().add("\x01\x00\x02", 3)), "[1 size does not fit");
  EXPECT_EQUAL(rows_of(f, int16, Bytes()), "[ ");
  EXPECT_EQUAL(rows_of(f, 999, Bytes().add(1)), "[ unknown schema");
}

}  // namespace

int main() {
  a_line_ends_where_it_is_full();
  a_line_has_no_control_characters_and_short_bytes();
  reals_have_the_digits_of_their_type();
  known_names_stand_for_numbers();
  rows_before_a_broken_one_stay();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
