// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbers that describe a payload in NVTX's binary interface. NVTX's own headers are not needed
// here; numbers.cpp compares every number with them where they are.

#include <cstdint>

namespace nvspan::nvtx {

// What an entry of a schema is; as a schema's id, data of that one type.
namespace entry_type {
constexpr std::uint64_t c_char = 1;
constexpr std::uint64_t c_uchar = 2;
constexpr std::uint64_t c_short = 3;
constexpr std::uint64_t c_ushort = 4;
constexpr std::uint64_t c_int = 5;
constexpr std::uint64_t c_uint = 6;
constexpr std::uint64_t c_long = 7;
constexpr std::uint64_t c_ulong = 8;
constexpr std::uint64_t c_longlong = 9;
constexpr std::uint64_t c_ulonglong = 10;
constexpr std::uint64_t int8 = 11;
constexpr std::uint64_t uint8 = 12;
constexpr std::uint64_t int16 = 13;
constexpr std::uint64_t uint16 = 14;
constexpr std::uint64_t int32 = 15;
constexpr std::uint64_t uint32 = 16;
constexpr std::uint64_t int64 = 17;
constexpr std::uint64_t uint64 = 18;
constexpr std::uint64_t c_float = 19;
constexpr std::uint64_t c_double = 20;
constexpr std::uint64_t c_longdouble = 21;
constexpr std::uint64_t size = 22;
constexpr std::uint64_t address = 23;
constexpr std::uint64_t wchar = 24;
constexpr std::uint64_t char8 = 25;
constexpr std::uint64_t char16 = 26;
constexpr std::uint64_t char32 = 27;
constexpr std::uint64_t byte = 32;
constexpr std::uint64_t int128 = 33;
constexpr std::uint64_t uint128 = 34;
constexpr std::uint64_t float16 = 42;
constexpr std::uint64_t float32 = 43;
constexpr std::uint64_t float64 = 44;
constexpr std::uint64_t float128 = 45;
constexpr std::uint64_t bf16 = 50;
constexpr std::uint64_t tf32 = 52;
constexpr std::uint64_t range_id = 67;
constexpr std::uint64_t category = 68;
constexpr std::uint64_t color = 69;
constexpr std::uint64_t scope = 70;
constexpr std::uint64_t pid32 = 71;
constexpr std::uint64_t pid64 = 72;
constexpr std::uint64_t tid32 = 73;
constexpr std::uint64_t tid64 = 74;
constexpr std::uint64_t cstring = 75;
constexpr std::uint64_t cstring_utf8 = 76;
constexpr std::uint64_t cstring_utf16 = 77;
constexpr std::uint64_t cstring_utf32 = 78;
constexpr std::uint64_t registered_string = 80;
constexpr std::uint64_t union_selector = 100;
constexpr std::uint64_t referenced = 1022;  // of a piece of a payload: memory that others point at
constexpr std::uint64_t raw = 1023;         // of a piece of a payload: bytes
constexpr std::uint64_t first_custom = 1 << 24;
}  // namespace entry_type

namespace entry_flag {
constexpr std::uint64_t pointer = 1 << 1;
constexpr std::uint64_t offset_from_base = 1 << 2;
constexpr std::uint64_t offset_from_here = 1 << 3;
constexpr std::uint64_t array_mask = 7 << 4;
constexpr std::uint64_t fixed_array = 1 << 4;
constexpr std::uint64_t zero_terminated = 2 << 4;
constexpr std::uint64_t length_index = 3 << 4;
constexpr std::uint64_t length_payload = 4 << 4;
constexpr std::uint64_t hide = 1 << 9;
constexpr std::uint64_t purpose_mask = 3 << 10;
constexpr std::uint64_t message = 1 << 10;
constexpr std::uint64_t timestamp = 2 << 10;
constexpr std::uint64_t role_mask = 7 << 12;
constexpr std::uint64_t range_begin = 1 << 12;
constexpr std::uint64_t range_end = 2 << 12;
constexpr std::uint64_t mark = 3 << 12;
constexpr std::uint64_t counter = 4 << 12;
}  // namespace entry_flag

namespace schema_type {
constexpr std::uint64_t fixed_schema = 1;
constexpr std::uint64_t dynamic_schema = 2;
constexpr std::uint64_t union_schema = 3;
}  // namespace schema_type

namespace schema_flag {
constexpr std::uint64_t event_mask = 15 << 3;  // no bit of it: the data is no event
constexpr std::uint64_t counter_group = 1 << 3;
constexpr std::uint64_t pushpop = 2 << 3;
constexpr std::uint64_t startend = 3 << 3;
constexpr std::uint64_t mark = 4 << 3;
}  // namespace schema_flag

// Of a batch of counters: one time and the distance to the next one stand for all samples. Not
// compared with NVTX's headers, of which CUDA 13.0's shifts them out of an int.
namespace batch_flag {
constexpr std::uint64_t interval_from_begin = std::uint64_t{1} << 32;
constexpr std::uint64_t interval_from_end = std::uint64_t{2} << 32;
}  // namespace batch_flag

}  // namespace nvspan::nvtx
