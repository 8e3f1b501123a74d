// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/payload/payload_schema.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace nvspan::trace {
namespace {

using namespace nvtx::entry_type;
using namespace nvtx::entry_flag;
using namespace nvtx::schema_type;

constexpr std::uint64_t largest = std::uint64_t{1} << 40;

// Takes storage for text and arrays from one block.
class Block {
 public:
  Block(core::PagePool& pool, std::size_t bytes)
      : begin_(bytes == 0 ? nullptr : static_cast<char*>(pool.allocate(bytes))), next_(begin_) {}

  char* begin() const { return begin_; }
  void* take(std::size_t bytes) {
    char* taken = next_;
    next_ += bytes;
    return taken;
  }
  std::string_view copy(std::string_view text) {
    if (text.data() == nullptr) return {};
    char* kept = next_;
    std::copy(text.begin(), text.end(), kept);
    next_ += text.size() + 1;
    kept[text.size()] = '\0';
    return {kept, text.size()};
  }

 private:
  char* begin_;
  char* next_;
};

std::size_t room_for(std::string_view text) { return text.data() == nullptr ? 0 : text.size() + 1; }

}  // namespace

std::uint64_t string_unit(std::uint64_t type) noexcept {
  switch (type) {
    case cstring:
    case cstring_utf8:
      return 1;
    case cstring_utf16:
      return 2;
    case cstring_utf32:
      return 4;
    default:
      return 0;
  }
}

TypeLayout predefined_layout(std::uint64_t type) noexcept {
  switch (type) {
    case c_char:
    case c_uchar:
    case int8:
    case uint8:
    case char8:
    case byte:
    case cstring:
    case cstring_utf8:
      return {1, 1};
    case c_short:
    case c_ushort:
    case int16:
    case uint16:
    case char16:
    case float16:
    case bf16:
    case cstring_utf16:
      return {2, 2};
    case c_int:
    case c_uint:
    case int32:
    case uint32:
    case c_float:
    case float32:
    case tf32:
    case wchar:
    case char32:
    case category:
    case color:
    case pid32:
    case tid32:
    case cstring_utf32:
      return {4, 4};
    case c_long:
    case c_ulong:
    case c_longlong:
    case c_ulonglong:
    case int64:
    case uint64:
    case c_double:
    case float64:
    case size:
    case address:
    case range_id:
    case scope:
    case pid64:
    case tid64:
    case registered_string:
      return {8, 8};
    case c_longdouble:
    case int128:
    case uint128:
    case float128:
      return {16, 16};
    default:
      return {};
  }
}

template <typename T>
T& SchemaTable::keep(Map<T>& map, const DomainKey& key, const Kept<T>& entry) {
  const auto found = map.find(key);
  if (found == map.end()) {
    try {
      return map.emplace(key, entry).first->second.value;
    } catch (...) {
      pool_.deallocate(entry.block, entry.bytes);
      throw;
    }
  }
  pool_.deallocate(found->second.block, found->second.bytes);
  found->second = entry;
  return found->second.value;
}

const PayloadSchema& SchemaTable::add(std::uint64_t domain, const PayloadSchema& given) {
  Kept<PayloadSchema> schema;
  schema.value = given;
  schema.bytes = given.count * sizeof(PayloadEntry) + room_for(given.name);
  for (std::size_t i = 0; i < given.count; ++i) {
    schema.bytes += room_for(given.entries[i].name) + room_for(given.entries[i].unit.unit);
  }
  Block block(pool_, schema.bytes);
  schema.block = block.begin();
  auto* entries = static_cast<PayloadEntry*>(block.take(given.count * sizeof(PayloadEntry)));
  for (std::size_t i = 0; i < given.count; ++i) {
    PayloadEntry* entry = new (entries + i) PayloadEntry(given.entries[i]);
    entry->name = block.copy(entry->name);
    entry->unit.unit = block.copy(entry->unit.unit);
  }
  schema.value.name = block.copy(given.name);
  schema.value.entries = entries;
  schema.value.version = ++versions_;
  measure(domain, schema.value, entries);
  return keep(schemas_, DomainKey{domain, given.id}, schema);
}

void SchemaTable::add(std::uint64_t domain, const PayloadEnum& given) {
  Kept<PayloadEnum> enumeration;
  enumeration.value = given;
  enumeration.bytes = given.count * sizeof(PayloadEnumValue) + room_for(given.name);
  for (std::size_t i = 0; i < given.count; ++i) enumeration.bytes += room_for(given.values[i].name);
  Block block(pool_, enumeration.bytes);
  enumeration.block = block.begin();
  auto* values = static_cast<PayloadEnumValue*>(block.take(given.count * sizeof(PayloadEnumValue)));
  for (std::size_t i = 0; i < given.count; ++i) {
    PayloadEnumValue* value = new (values + i) PayloadEnumValue(given.values[i]);
    value->name = block.copy(value->name);
  }
  enumeration.value.name = block.copy(given.name);
  enumeration.value.values = values;
  enumeration.value.version = ++versions_;
  keep(enums_, DomainKey{domain, given.id}, enumeration);
}

void SchemaTable::add_scope(std::uint64_t domain, std::uint64_t id, const PayloadScope& given) {
  Kept<PayloadScope> scope;
  scope.value = given;
  scope.bytes = room_for(given.path);
  Block block(pool_, scope.bytes);
  scope.block = block.begin();
  scope.value.path = block.copy(given.path);
  keep(scopes_, DomainKey{domain, id}, scope);
}

void SchemaTable::add_counter(std::uint64_t domain, std::uint64_t id, const PayloadCounter& given) {
  Kept<PayloadCounter> counter;
  counter.value = given;
  counter.bytes = room_for(given.description) + room_for(given.unit.unit);
  Block block(pool_, counter.bytes);
  counter.block = block.begin();
  counter.value.description = block.copy(given.description);
  counter.value.unit.unit = block.copy(given.unit.unit);
  keep(counters_, DomainKey{domain, id}, counter);
}

const PayloadCounter* SchemaTable::counter(std::uint64_t domain, std::uint64_t id) const {
  const auto found = counters_.find(DomainKey{domain, id});
  return found == counters_.end() ? nullptr : &found->second.value;
}

const PayloadSchema* SchemaTable::schema(std::uint64_t domain, std::uint64_t id) const {
  const auto found = schemas_.find(DomainKey{domain, id});
  return found == schemas_.end() ? nullptr : &found->second.value;
}

const PayloadEnum* SchemaTable::enumeration(std::uint64_t domain, std::uint64_t id) const {
  const auto found = enums_.find(DomainKey{domain, id});
  return found == enums_.end() ? nullptr : &found->second.value;
}

const PayloadScope* SchemaTable::scope(std::uint64_t domain, std::uint64_t id) const {
  const auto found = scopes_.find(DomainKey{domain, id});
  return found == scopes_.end() ? nullptr : &found->second.value;
}

TypeLayout SchemaTable::layout(std::uint64_t domain, std::uint64_t type) const {
  if (type < first_custom) return predefined_layout(type);
  if (const PayloadSchema* nested = schema(domain, type)) {
    return {nested->type == dynamic_schema ? 0 : nested->size, nested->alignment};
  }
  if (const PayloadEnum* known = enumeration(domain, type)) {
    const std::uint64_t bytes = known->size;
    if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) return {bytes, bytes};
  }
  return {};
}

// Of a whole entry, as it lies in its struct.
TypeLayout SchemaTable::layout(std::uint64_t domain, const PayloadEntry& entry) const {
  constexpr TypeLayout of_pointer = {8, 8};
  if ((entry.flags & pointer) != 0) return of_pointer;
  const std::uint64_t array = entry.flags & array_mask;
  TypeLayout entry_layout = layout(domain, entry.type);
  const bool is_text = string_unit(entry.type) != 0;
  if (is_text && array == 0 && entry.detail == 0) return of_pointer;
  if (array == fixed_array || (is_text && array == 0)) {
    entry_layout.size = entry_layout.size == 0 || entry.detail > largest / entry_layout.size
                            ? 0
                            : entry_layout.size * entry.detail;
  } else if (array != 0) {
    entry_layout.size = 0;
  }
  return entry_layout;
}

// Parts are registered before what is made of them, so no schema is measured through itself.
void SchemaTable::measure(std::uint64_t domain, PayloadSchema& measured,
                          PayloadEntry* entries) const {
  std::uint64_t end = 0;
  std::uint64_t furthest = 0;
  bool fixed = measured.type != dynamic_schema;
  bool is_packed = false;
  measured.alignment = 1;
  measured.cites_names = measured.has_attributes = false;
  for (std::size_t i = 0; i < measured.count; ++i) {
    PayloadEntry& entry = entries[i];
    const bool names = entry.type == registered_string || entry.type == nvtx::entry_type::category;
    const PayloadSchema* nested = schema(domain, entry.type);
    measured.cites_names =
        measured.cites_names || names || (nested != nullptr && nested->cites_names);
    measured.has_attributes = measured.has_attributes || entry.type == nvtx::entry_type::category ||
                              entry.type == color || (entry.flags & purpose_mask) == message;
    TypeLayout of = layout(domain, entry);
    if (measured.pack != 0) of.alignment = std::min(of.alignment, measured.pack);
    measured.alignment = std::max(measured.alignment, of.alignment);
    if (of.size == 0) fixed = false;
    if (measured.type == union_schema) end = 0;
    const std::uint64_t at =
        i == 0 || entry.offset != 0 ? entry.offset : aligned(end, of.alignment);
    entry.place = at;
    // An offset that the type's alignment does not allow tells of a packed struct.
    if (at % of.alignment != 0) is_packed = true;
    if (at > largest || end > largest) fixed = false;
    end = fixed ? at + of.size : 0;
    furthest = std::max(furthest, end);
  }
  if (is_packed || (measured.size != 0 && measured.size % measured.alignment != 0))
    measured.alignment = 1;
  if (measured.size == 0 && fixed) measured.size = aligned(furthest, measured.alignment);
}

}  // namespace nvspan::trace
