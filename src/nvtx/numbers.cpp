// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Compares the numbers with NVTX's headers. Nothing of this is in any program.
#include "nvtx/numbers.hpp"

#include "nvtx/abi.hpp"

#if NVSPAN_HAVE_NVTX

namespace nvspan::nvtx {

static_assert(entry_type::c_char == NVTX_PAYLOAD_ENTRY_TYPE_CHAR);
static_assert(entry_type::c_uchar == NVTX_PAYLOAD_ENTRY_TYPE_UCHAR);
static_assert(entry_type::c_short == NVTX_PAYLOAD_ENTRY_TYPE_SHORT);
static_assert(entry_type::c_ushort == NVTX_PAYLOAD_ENTRY_TYPE_USHORT);
static_assert(entry_type::c_int == NVTX_PAYLOAD_ENTRY_TYPE_INT);
static_assert(entry_type::c_uint == NVTX_PAYLOAD_ENTRY_TYPE_UINT);
static_assert(entry_type::c_long == NVTX_PAYLOAD_ENTRY_TYPE_LONG);
static_assert(entry_type::c_ulong == NVTX_PAYLOAD_ENTRY_TYPE_ULONG);
static_assert(entry_type::c_longlong == NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG);
static_assert(entry_type::c_ulonglong == NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
static_assert(entry_type::int8 == NVTX_PAYLOAD_ENTRY_TYPE_INT8);
static_assert(entry_type::uint8 == NVTX_PAYLOAD_ENTRY_TYPE_UINT8);
static_assert(entry_type::int16 == NVTX_PAYLOAD_ENTRY_TYPE_INT16);
static_assert(entry_type::uint16 == NVTX_PAYLOAD_ENTRY_TYPE_UINT16);
static_assert(entry_type::int32 == NVTX_PAYLOAD_ENTRY_TYPE_INT32);
static_assert(entry_type::uint32 == NVTX_PAYLOAD_ENTRY_TYPE_UINT32);
static_assert(entry_type::int64 == NVTX_PAYLOAD_ENTRY_TYPE_INT64);
static_assert(entry_type::uint64 == NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
static_assert(entry_type::c_float == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT);
static_assert(entry_type::c_double == NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE);
static_assert(entry_type::c_longdouble == NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE);
static_assert(entry_type::size == NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
static_assert(entry_type::address == NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS);
static_assert(entry_type::wchar == NVTX_PAYLOAD_ENTRY_TYPE_WCHAR);
static_assert(entry_type::char8 == NVTX_PAYLOAD_ENTRY_TYPE_CHAR8);
static_assert(entry_type::char16 == NVTX_PAYLOAD_ENTRY_TYPE_CHAR16);
static_assert(entry_type::char32 == NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
static_assert(entry_type::byte == NVTX_PAYLOAD_ENTRY_TYPE_BYTE);
static_assert(entry_type::int128 == NVTX_PAYLOAD_ENTRY_TYPE_INT128);
static_assert(entry_type::uint128 == NVTX_PAYLOAD_ENTRY_TYPE_UINT128);
static_assert(entry_type::float16 == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16);
static_assert(entry_type::float32 == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32);
static_assert(entry_type::float64 == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
static_assert(entry_type::float128 == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
static_assert(entry_type::bf16 == NVTX_PAYLOAD_ENTRY_TYPE_BF16);
static_assert(entry_type::tf32 == NVTX_PAYLOAD_ENTRY_TYPE_TF32);
static_assert(entry_type::range_id == NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID);
static_assert(entry_type::category == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
static_assert(entry_type::color == NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB);
static_assert(entry_type::scope == NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID);
static_assert(entry_type::pid32 == NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32);
static_assert(entry_type::pid64 == NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64);
static_assert(entry_type::tid32 == NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32);
static_assert(entry_type::tid64 == NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64);
static_assert(entry_type::cstring == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
static_assert(entry_type::cstring_utf8 == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
static_assert(entry_type::cstring_utf16 == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16);
static_assert(entry_type::cstring_utf32 == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
static_assert(entry_type::registered_string ==
              NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
static_assert(entry_type::union_selector == NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR);
static_assert(entry_type::referenced == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
static_assert(entry_type::raw == NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
static_assert(entry_type::first_custom == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);

static_assert(entry_flag::pointer == NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
static_assert(entry_flag::offset_from_base == NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE);
static_assert(entry_flag::offset_from_here == NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
static_assert(entry_flag::fixed_array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
static_assert(entry_flag::zero_terminated == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
static_assert(entry_flag::length_index == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
static_assert(entry_flag::length_payload == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
static_assert(entry_flag::hide == NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
static_assert(entry_flag::message == NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
static_assert(entry_flag::timestamp == NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP);
static_assert(entry_flag::range_begin == NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN);
static_assert(entry_flag::range_end == NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END);
static_assert(entry_flag::mark == NVTX_PAYLOAD_ENTRY_FLAG_MARK);
static_assert(entry_flag::counter == NVTX_PAYLOAD_ENTRY_FLAG_COUNTER);

static_assert(schema_type::fixed_schema == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
static_assert(schema_type::dynamic_schema == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
static_assert(schema_type::union_schema == NVTX_PAYLOAD_SCHEMA_TYPE_UNION);

static_assert(schema_flag::counter_group == NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP);
static_assert(schema_flag::pushpop == NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP);
static_assert(schema_flag::startend == NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND);
static_assert(schema_flag::mark == NVTX_PAYLOAD_SCHEMA_FLAG_MARK);

}  // namespace nvspan::nvtx

#endif
