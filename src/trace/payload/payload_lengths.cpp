// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How many elements an array in a payload has, which other entries of it may say.

#include "trace/payload/payload_decoder.hpp"
#include "trace/payload/payload_numbers.hpp"

#include <cstring>

namespace nvspan::trace {
namespace {

using namespace nvtx::entry_type;
using namespace nvtx::entry_flag;

}  // namespace

bool PayloadDecoder::integer_at(std::uint64_t type, std::uint64_t at, std::uint64_t& value) const {
  std::uint64_t size = 0;
  if (const PayloadEnum* known = table_.enumeration(domain_, type)) {
    size = known->size;
    if ((size != 1 && size != 2 && size != 4 && size != 8) || !fits(at, size)) return false;
    value = 0;
    std::memcpy(&value, bytes_.data() + at, size);
    return true;
  }
  size = predefined_layout(type).size;
  if (size == 0 || size > sizeof value || !fits(at, size)) return false;
  PayloadValue read;
  read_number(type, bytes_.substr(at, size), read);
  if (read.kind == PayloadValue::Kind::integer) {
    value = read.integer < 0 ? 0 : static_cast<std::uint64_t>(read.integer);
    return true;
  }
  value = read.count;
  return read.kind == PayloadValue::Kind::count;
}

bool PayloadDecoder::terminated(std::uint64_t unit, std::uint64_t at, std::uint64_t& count) const {
  if (unit == 0) return false;
  for (count = 0; fits(at, unit); ++count, at += unit) {
    const std::string_view element = bytes_.substr(at, unit);
    if (element.find_first_not_of('\0') == std::string_view::npos) return true;
  }
  return false;
}

// The lengths that an entry holds, itself a number or an array of them.
bool PayloadDecoder::lengths_at(const PayloadEntry& entry, std::uint64_t at, Lengths& lengths) {
  const std::uint64_t array = entry.flags & array_mask;
  const std::uint64_t size = predefined_layout(entry.type).size;
  std::uint64_t count = 1;
  if (array == fixed_array) count = entry.detail;
  if (array == zero_terminated && !terminated(size, at, count)) return false;
  if (array == length_index || array == length_payload || count > most_dimensions) return false;
  lengths.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (!integer_at(entry.type, at + i * size, lengths.sizes[i])) return false;
  }
  return count != 0;
}

bool PayloadDecoder::lengths_of(const PayloadSchema& schema, const PayloadEntry& entry,
                                std::size_t index, std::size_t frame, Lengths& lengths) {
  bool found = false;
  switch (entry.flags & array_mask) {
    case fixed_array:
      lengths.count = 1;
      lengths.sizes[0] = entry.detail;
      found = true;
      break;
    case zero_terminated:
      lengths.count = 1;
      found = terminated(table_.layout(domain_, entry.type).size, positions_[frame + index],
                         lengths.sizes[0]);
      break;
    case length_index:
      found = entry.detail < index &&
              lengths_at(schema.entries[entry.detail], positions_[frame + entry.detail], lengths);
      break;
    case length_payload:
      if (entry.detail < piece_count_) {
        const PayloadPiece& other = pieces_[entry.detail];
        PayloadEntry whole;
        whole.type = other.schema;
        whole.flags = fixed_array;
        if (const PayloadSchema* known = table_.schema(domain_, other.schema)) {
          if (known->count != 1) break;
          whole = known->entries[0];
        } else if (const std::uint64_t size = predefined_layout(other.schema).size) {
          whole.detail = other.data.size() / size;
        }
        const std::string_view own = bytes_;
        bytes_ = other.data;
        found = lengths_at(whole, 0, lengths);
        bytes_ = own;
      }
      break;
    default:
      break;
  }
  // A text or bytes of no length is one; so is a list.
  return found || fail(PayloadResult::does_not_fit);
}

}  // namespace nvspan::trace
