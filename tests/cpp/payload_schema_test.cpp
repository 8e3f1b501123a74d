// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How schemas are laid out: sizes, alignments and places as a C++ compiler has them, schemas that
// are replaced; and how numbers and wide text are read from bytes.

#include "trace/payload/payload_schema.hpp"
#include "expect.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/memory/page_pool.hpp"
#include "trace/payload/payload.hpp"
#include "trace/payload/payload_numbers.hpp"

using nvspan::core::PagePool;
using nvspan::trace::PayloadEntry;
using nvspan::trace::PayloadEnum;
using nvspan::trace::PayloadSchema;
using nvspan::trace::PayloadType;
using nvspan::trace::PayloadValue;
using nvspan::trace::SchemaTable;
namespace entry_flag = nvspan::nvtx::entry_flag;
namespace entry_type = nvspan::nvtx::entry_type;
namespace schema_type = nvspan::nvtx::schema_type;

namespace {

constexpr std::uint64_t first = entry_type::first_custom;

PayloadEntry entry_of(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                      std::uint64_t detail = 0) {
  PayloadEntry entry;
  entry.type = type;
  entry.name = name;
  entry.flags = flags;
  entry.detail = detail;
  return entry;
}

const PayloadSchema& add(SchemaTable& table, std::uint64_t id,
                         const std::vector<PayloadEntry>& entries,
                         std::uint64_t type = schema_type::fixed_schema, std::uint64_t pack = 0) {
  PayloadSchema schema;
  schema.id = id;
  schema.type = type;
  schema.pack = pack;
  schema.entries = entries.data();
  schema.count = entries.size();
  return table.add(1, schema);
}

std::string layout_of(const PayloadSchema& schema) {
  std::string text;
  for (std::size_t i = 0; i < schema.count; ++i) {
    text +=
        std::string(schema.entries[i].name) + '@' + std::to_string(schema.entries[i].place) + ' ';
  }
  return text + std::to_string(schema.size) + '/' + std::to_string(schema.alignment);
}

void places_are_those_of_a_struct() {
  PagePool pool;
  SchemaTable table(pool);
  const std::vector<PayloadEntry> entries = {
      entry_of(entry_type::int8, "a"), entry_of(entry_type::float64, "b"),
      entry_of(entry_type::uint16, "c", entry_flag::fixed_array, 3),
      entry_of(entry_type::cstring, "d")};  // a pointer
  EXPECT_EQUAL(layout_of(add(table, first, entries)), "a@0 b@8 c@16 d@24 32/8");
  EXPECT_EQUAL(layout_of(add(table, first + 1, entries, schema_type::fixed_schema, 1)),
               "a@0 b@1 c@9 d@15 23/1");
  EXPECT_EQUAL(layout_of(add(table, first + 2, entries, schema_type::union_schema)),
               "a@0 b@0 c@0 d@0 8/8");
  EXPECT(layout_of(add(table, first + 3, entries, schema_type::dynamic_schema)) ==
         "a@0 b@0 c@0 d@0 0/8");
  const std::vector<PayloadEntry> nested = {entry_of(entry_type::int32, "x"),
                                            entry_of(first, "inner")};
  EXPECT_EQUAL(layout_of(add(table, first + 4, nested)), "x@0 inner@8 40/8");
  // Given offsets that no alignment allows are of a packed struct.
  std::vector<PayloadEntry> packed = {entry_of(entry_type::int8, "a"),
                                      entry_of(entry_type::int64, "b")};
  packed[1].offset = 1;
  EXPECT_EQUAL(layout_of(add(table, first + 5, packed)), "a@0 b@1 9/1");
}

void one_of_the_same_id_is_another_version() {
  PagePool pool;
  SchemaTable table(pool);
  std::string name = "temporary";
  const std::uint64_t before =
      add(table, first, {entry_of(entry_type::int8, name.c_str())}).version;
  name = "gone text";
  EXPECT_EQUAL(std::string(table.schema(1, first)->entries[0].name), "temporary");
  EXPECT(table.schema(2, first) == nullptr);
  const PayloadSchema& after = add(table, first, {entry_of(entry_type::registered_string, "b")});
  EXPECT(after.version != before && after.cites_names);
  EXPECT(add(table, first + 1, {entry_of(first, "nested")}).cites_names);
  EXPECT(!add(table, first + 2, {entry_of(entry_type::int8, "plain")}).cites_names);
}

void enumerations_have_the_size_of_their_number() {
  PagePool pool;
  SchemaTable table(pool);
  PayloadEnum known;
  known.id = first;
  known.size = 2;
  table.add(1, known);
  EXPECT(table.layout(1, first).size == 2 && table.layout(1, first).alignment == 2);
  known.size = 3;  // no number has it
  table.add(1, known);
  EXPECT(table.layout(1, first).size == 0);
  EXPECT(table.layout(1, entry_type::int128).size == 16);
  EXPECT(table.layout(1, 2000).size == 0);
}

template <typename T>
std::string number(std::uint64_t type, const T& given) {
  PayloadValue value;
  nvspan::trace::read_number(
      type, std::string_view(reinterpret_cast<const char*>(&given), sizeof given), value);
  switch (value.kind) {
    case PayloadValue::Kind::integer:
      return "i" + std::to_string(value.integer);
    case PayloadValue::Kind::count:
      return "u" + std::to_string(value.count);
    case PayloadValue::Kind::real:
      return "f" + std::to_string(value.real);
    default:
      return "other";
  }
}

void numbers_are_read_by_their_type() {
  EXPECT_EQUAL(number(entry_type::int8, std::int8_t{-5}), "i-5");
  EXPECT_EQUAL(number(entry_type::uint8, std::uint8_t{250}), "u250");
  EXPECT_EQUAL(number(entry_type::int64, INT64_MIN), "i-9223372036854775808");
  EXPECT_EQUAL(number(entry_type::uint64, UINT64_MAX), "u18446744073709551615");
  EXPECT_EQUAL(number(entry_type::float32, 1.5f), "f1.500000");
  EXPECT_EQUAL(number(entry_type::float16, std::uint16_t{0xC100}), "f-2.500000");
  EXPECT_EQUAL(number(entry_type::float16, std::uint16_t{0x7C00}), "finf");
  EXPECT_EQUAL(number(entry_type::bf16, std::uint16_t{0x3FC0}), "f1.500000");
  const std::uint64_t minus_two[2] = {~std::uint64_t{1}, ~std::uint64_t{0}};
  EXPECT_EQUAL(number(entry_type::int128, minus_two), "i-2");
  EXPECT_EQUAL(number(entry_type::uint128, minus_two), "other");
}

void wide_text_becomes_utf8() {
  PagePool pool;
  nvspan::core::PoolString text(pool);
  const char16_t wide[] = u"a\u00e9\U0001F600\0no";
  nvspan::trace::add_wide(std::string_view(reinterpret_cast<const char*>(wide), sizeof wide), 2,
                          text);
  EXPECT_EQUAL(std::string(text.data(), text.size()), "a\xC3\xA9\xF0\x9F\x98\x80");
  char room[20];
  EXPECT_EQUAL(std::string(nvspan::trace::index_text(0, room)), "0");
  EXPECT_EQUAL(std::string(nvspan::trace::index_text(UINT64_MAX, room)), "18446744073709551615");
}

void a_scalar_is_of_its_type() {
  std::string text;
  const auto use = [&](auto value) { text += std::to_string(value) + ' '; };
  const std::uint64_t bits = ~std::uint64_t{0};
  for (const PayloadType type :
       {PayloadType::u64, PayloadType::i64, PayloadType::u32, PayloadType::i32}) {
    EXPECT(nvspan::trace::use_scalar(type, bits, use));
  }
  EXPECT_EQUAL(text, "18446744073709551615 -1 4294967295 -1 ");
  EXPECT(!nvspan::trace::use_scalar(PayloadType::none, bits, use));
  EXPECT(!nvspan::trace::use_scalar(PayloadType::ext, bits, use));
}

}  // namespace

int main() {
  places_are_those_of_a_struct();
  one_of_the_same_id_is_another_version();
  enumerations_have_the_size_of_their_number();
  numbers_are_read_by_their_type();
  wide_text_becomes_utf8();
  a_scalar_is_of_its_type();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
