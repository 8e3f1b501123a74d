// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Arrays in payloads: their lengths are fixed, ended by a zero, in an earlier entry, or in another
// payload of the same event; a length that does not fit reads nothing.

#include "trace/payload/payload_decoder.hpp"

#include <cstdint>
#include <string>

#include "expect.hpp"
#include "payload_fixture.hpp"

namespace {

using namespace nvspan::nvtx::entry_type;
using namespace nvspan::nvtx::entry_flag;
using namespace nvspan::nvtx::schema_type;
using nvspan::trace::PayloadPiece;
using nvspan_test::Bytes;
using nvspan_test::entry;
using nvspan_test::Fixture;

constexpr const char* no_fit = "size does not fit";

void fixed_lengths() {
  Fixture f;
  const std::uint64_t three = f.schema({entry("v", uint8, fixed_array, 3)}, fixed_schema);
  EXPECT_EQUAL(f.read(three, Bytes().add("\1\2\3", 3)), "\"v\": [1, 2, 3]");
  EXPECT_EQUAL(f.read(three, Bytes().add("\1\2", 2)), no_fit);
  const std::uint64_t none = f.schema({entry("v", uint8, fixed_array, 0)}, fixed_schema);
  EXPECT_EQUAL(f.read(none, Bytes().add("\1", 1)), "\"v\": []");
  const std::uint64_t huge =
      f.schema({entry("v", uint64, fixed_array, ~std::uint64_t{0} / 8 + 2)}, fixed_schema);
  EXPECT_EQUAL(f.read(huge, Bytes().pad(64)), no_fit);
}

void a_zero_ends_it() {
  Fixture f;
  const std::uint64_t shorts = f.schema({entry("v", int16, zero_terminated), entry("w", uint8)});
  EXPECT_EQUAL(
      f.read(
          shorts,
          Bytes().add(std::int16_t{256}).add(std::int16_t{-1}).add(std::int16_t{0}).add("\5", 1)),
      "\"v\": [256, -1], \"w\": 5");
  EXPECT_EQUAL(f.read(shorts, Bytes().add(std::int16_t{0}).add("\5", 1)), "\"v\": [], \"w\": 5");
  EXPECT_EQUAL(f.read(shorts, Bytes().add(std::int16_t{1}).add(std::int16_t{2})), no_fit);
}

void an_earlier_entry_has_it() {
  Fixture f;
  const auto of = [&](std::uint64_t type) {
    return f.schema({entry("n", type), entry("v", uint8, length_index, 0)});
  };
  EXPECT_EQUAL(f.read(of(uint8), Bytes().add("\2\7\x08\x09", 4)), "\"n\": 2, \"v\": [7, 8]");
  EXPECT_EQUAL(f.read(of(int32), Bytes().add(1).add("\7", 1)), "\"n\": 1, \"v\": [7]");
  // Nothing has less than no element.
  EXPECT_EQUAL(f.read(of(int8), Bytes().add("\xff\7", 2)), "\"n\": -1, \"v\": []");
  EXPECT_EQUAL(f.read(of(uint64), Bytes().add(~std::uint64_t{0}).add("\7", 1)), no_fit);
  EXPECT_EQUAL(f.read(of(float32), Bytes().add(1.0f).add("\7", 1)), no_fit);
  const std::uint64_t counted = f.enumeration({{"two", 2, false}}, 2);
  EXPECT_EQUAL(f.read(of(counted), Bytes().add(std::uint16_t{2}).add("\7\x08", 2)),
               "\"n\": \"two\", \"v\": [7, 8]");
  // Only what lies before it can be read before it.
  const std::uint64_t later =
      f.schema({entry("v", uint8, length_index, 1), entry("n", uint8)}, dynamic_schema);
  EXPECT_EQUAL(f.read(later, Bytes().add("\1\1", 2)), no_fit);
  const std::uint64_t itself = f.schema({entry("v", uint8, length_index, 0)});
  EXPECT_EQUAL(f.read(itself, Bytes().add("\1\1", 2)), no_fit);
}

void an_array_has_a_length_for_each_dimension() {
  Fixture f;
  const std::uint64_t matrix =
      f.schema({entry("shape", uint8, fixed_array, 2), entry("v", uint8, length_index, 0)});
  EXPECT_EQUAL(f.read(matrix, Bytes().add("\2\3\1\2\3\4\5\6", 8)),
               "\"shape\": [2, 3], \"v\": [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQUAL(f.read(matrix, Bytes().add("\2\3\1\2\3\4\5", 7)), no_fit);
  EXPECT_EQUAL(f.read(matrix, Bytes().add("\2\0", 2)), "\"shape\": [2, 0], \"v\": [[], []]");
  const std::uint64_t of_any_depth =
      f.schema({entry("shape", uint8, zero_terminated), entry("v", uint8, length_index, 0)});
  EXPECT_EQUAL(f.read(of_any_depth, Bytes().add("\1\1\2\0\x08\x09", 6)),
               "\"shape\": [1, 1, 2], \"v\": [[[8, 9]]]");
  // No length is no array.
  EXPECT_EQUAL(f.read(of_any_depth, Bytes().add("\0\x08", 2)), no_fit);
}

void another_payload_has_it() {
  Fixture f;
  const std::uint64_t vector = f.schema({entry("v", uint8, length_payload, 1)});
  const Bytes bytes = Bytes().add("\7\x08", 2);
  const auto with = [&](std::uint64_t schema, const Bytes& lengths) {
    return f.read({PayloadPiece{vector, bytes.text}, PayloadPiece{schema, lengths.text}});
  };
  EXPECT_EQUAL(with(uint64, Bytes().add(std::uint64_t{2})), "\"v\": [7, 8], \"value\": 2");
  EXPECT_EQUAL(with(uint8, Bytes().add("\1\2", 2)), "\"v\": [[7, 8]], \"value\": [1, 2]");
  EXPECT_EQUAL(with(uint64, Bytes().add(std::uint64_t{3})), no_fit);
  EXPECT_EQUAL(f.read(vector, bytes), no_fit);
  const std::uint64_t one = f.schema({entry("n", uint8, hide)}, fixed_schema, 1);
  EXPECT_EQUAL(with(one, Bytes().add("\2", 1)), "\"v\": [7, 8]");
  const std::uint64_t two = f.schema({entry("n", uint8), entry("m", uint8)}, fixed_schema, 2);
  EXPECT_EQUAL(with(two, Bytes().add("\2\1", 2)), no_fit);
}

}  // namespace

int main() {
  fixed_lengths();
  a_zero_ends_it();
  an_earlier_entry_has_it();
  an_array_has_a_length_for_each_dimension();
  another_payload_has_it();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
