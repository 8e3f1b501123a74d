// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/payload/payload_decoder.hpp"

#include "core/text/number_text.hpp"
#include "core/text/utf8.hpp"
#include "trace/payload/payload_numbers.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::trace {
namespace {

using namespace nvtx::entry_type;
using namespace nvtx::entry_flag;
using namespace nvtx::schema_type;

bool is_character(std::uint64_t type) {
  return type == c_char || type == char8 || type == char16 || type == char32 || type == wchar;
}

// A struct of one thing that has no name, or that of a type, as NumPy's dtypes have it ("int64").
bool stands_for_its_field(const PayloadSchema& schema) {
  if (schema.count != 1) return false;
  std::string_view name = schema.entries[0].name;
  if (name.data() == nullptr) return true;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  for (const std::string_view type :
       {"int", "uint", "float", "longdouble", "bool", "str", "bytes"}) {
    if (name == type) return true;
  }
  return false;
}

constexpr std::string_view only_value = "value";

}  // namespace

std::string_view payload_result_text(PayloadResult result) {
  switch (result) {
    case PayloadResult::unknown:
      return "unknown schema";
    case PayloadResult::does_not_fit:
      return "size does not fit";
    case PayloadResult::too_deep:
      return "too deep";
    case PayloadResult::too_large:
      return "too large";
    case PayloadResult::unsupported:
      return "not supported";
    case PayloadResult::whole:
    case PayloadResult::stopped:
      break;
  }
  return "";
}

void PayloadDecoder::start(const PayloadReading& reading) {
  domain_ = reading.domain;
  names_ = &reading.names;
  visitor_ = &reading.visitor;
  own_fields_ = reading.own_fields;
  result_ = PayloadResult::whole;
  values_ = text_bytes_ = 0;
  positions_.clear();
}

PayloadResult PayloadDecoder::decode(const PayloadReading& reading, const PayloadPiece* pieces,
                                     std::size_t count) {
  start(reading);
  pieces_ = pieces;
  piece_count_ = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (!piece(pieces[i])) break;
  }
  return result_;
}

PayloadResult PayloadDecoder::decode_first(const PayloadReading& reading, std::uint64_t schema,
                                           std::string_view data, std::uint64_t& used) {
  start(reading);
  pieces_ = nullptr;
  piece_count_ = 0;
  bytes_ = data;
  const PayloadSchema* known = table_.schema(domain_, schema);
  if (known == nullptr) return PayloadResult::unknown;
  if (known->type == fixed_schema && known->size != 0 && fits(0, known->size)) {
    bytes_ = data.substr(0, known->size);
  }
  used = 0;
  if (fields(*known, 0, 0, used) && used == 0) fail(PayloadResult::does_not_fit);
  return result_;
}

// Counts a value or an entry, with what is written of it.
bool PayloadDecoder::step(std::size_t text) {
  ++values_;
  text_bytes_ += text;
  const bool enough = values_ > most_payload_values || text_bytes_ > most_payload_text;
  return !enough || fail(PayloadResult::too_large);
}

bool PayloadDecoder::piece(const PayloadPiece& piece) {
  bytes_ = piece.data;
  if (bytes_.empty() || piece.schema == referenced) return true;
  if (piece.schema < first_custom) return predefined(piece.schema);
  if (const PayloadSchema* known = table_.schema(domain_, piece.schema)) {
    std::uint64_t end = 0;
    return fields(*known, 0, 0, end);
  }
  if (table_.enumeration(domain_, piece.schema) != nullptr) {
    std::uint64_t end = 0;
    return one(nullptr, piece.schema, {0, only_value, 0}, end);
  }
  return fail(PayloadResult::unknown);
}

bool PayloadDecoder::predefined(std::uint64_t type) {
  constexpr std::string_view name = only_value;
  if (type == raw || type == byte) {
    PayloadValue value;
    value.kind = PayloadValue::Kind::bytes;
    value.text = bytes_;
    value.type = type;
    return step(2 * bytes_.size()) && unless_stopped(visitor_->value(name, value));
  }
  const std::uint64_t unit = predefined_layout(type).size;
  if (unit == 0) return fail(PayloadResult::unknown);
  const std::uint64_t count = bytes_.size() / unit;
  if (count == 0) return fail(PayloadResult::does_not_fit);
  if (string_unit(type) != 0 || is_character(type)) return text(nullptr, type, 0, count, name);
  if (count == 1) return scalar(nullptr, type, 0, name, unit);
  if (!unless_stopped(visitor_->begin(name, true))) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!scalar(nullptr, type, i * unit, {}, unit)) return false;
  }
  return unless_stopped(visitor_->end(true));
}

bool PayloadDecoder::is_left_out(const PayloadSchema& schema, const PayloadEntry& entry) const {
  if ((entry.flags & hide) != 0) return !visitor_->takes_hidden();
  if (!own_fields_ || (schema.flags & nvtx::schema_flag::event_mask) == 0) return false;
  const std::uint64_t role = entry.flags & role_mask;
  return (entry.flags & purpose_mask) == message || role == range_begin || role == range_end ||
         role == mark || entry.type == nvtx::entry_type::category || entry.type == color;
}

bool PayloadDecoder::fields(const PayloadSchema& schema, std::uint64_t base, unsigned depth,
                            std::uint64_t& end) {
  if (depth > most_payload_depth) return fail(PayloadResult::too_deep);
  if (schema.type != fixed_schema && schema.type != dynamic_schema) {
    return fail(PayloadResult::unsupported);
  }
  const bool is_fixed = schema.type == fixed_schema && schema.size != 0;
  if (is_fixed && !fits(base, schema.size)) return fail(PayloadResult::does_not_fit);
  const std::size_t frame = positions_.size();
  std::uint64_t cursor = base;
  for (std::size_t i = 0; i < schema.count; ++i) {
    const PayloadEntry& entry = schema.entries[i];
    TypeLayout layout = table_.layout(domain_, entry);
    if (schema.pack != 0) layout.alignment = std::min(layout.alignment, schema.pack);
    const bool is_explicit = i == 0 || entry.offset != 0;
    if (is_explicit && entry.offset > bytes_.size()) return fail(PayloadResult::does_not_fit);
    const std::uint64_t at =
        base + (is_explicit ? entry.offset : aligned(cursor - base, layout.alignment));
    positions_.push_back(at);
    char number[8];
    std::string_view name = entry.name;
    if (depth == 0 && stands_for_its_field(schema)) name = only_value;
    if (name.data() == nullptr) name = index_text(i, number);
    if (!step(name.size()) || !this->entry(schema, i, frame, {at, name, depth}, cursor)) {
      return false;
    }
  }
  positions_.resize(frame);
  end = is_fixed ? base + schema.size : cursor;
  return true;
}

bool PayloadDecoder::entry(const PayloadSchema& schema, std::size_t index, std::size_t frame,
                           const Place& place, std::uint64_t& end) {
  const auto& [at, name, depth] = place;
  const PayloadEntry& entry = schema.entries[index];
  if ((entry.flags & (offset_from_base | offset_from_here)) != 0) {
    return fail(PayloadResult::unsupported);  // nowhere is said how wide such an offset is
  }
  const std::uint64_t array = entry.flags & array_mask;
  const std::uint64_t unit = string_unit(entry.type);
  const bool is_pointer =
      (entry.flags & pointer) != 0 || (unit != 0 && array == 0 && entry.detail == 0);
  PayloadVisitor* const visitor = visitor_;
  PayloadVisitor nobody;
  // What is not shown still has a size.
  if (is_left_out(schema, entry)) visitor_ = &nobody;
  bool done = false;
  if (is_pointer) {
    end = at + predefined_layout(address).size;
    done = scalar(&entry, address, at, name, end - at);
  } else if (const PayloadSchema* nested = table_.schema(domain_, entry.type);
             nested != nullptr && nested->type == union_schema) {
    std::uint64_t selected = 0;
    if (array != 0) {
      done = fail(PayloadResult::unsupported);
    } else if (entry.detail >= index || !integer_at(schema.entries[entry.detail].type,
                                                    positions_[frame + entry.detail], selected)) {
      done = fail(PayloadResult::does_not_fit);
    } else {
      done = member(*nested, selected, place, end);
    }
  } else if (array == 0 || (array == fixed_array && unit != 0)) {
    if (unit != 0) {
      done = text(&entry, entry.type, at, entry.detail, name);
      end = at + unit * entry.detail;
    } else {
      done = one(&entry, entry.type, place, end);
    }
  } else {
    Lengths lengths;
    done = lengths_of(schema, entry, index, frame, lengths);
    const bool is_bytes = entry.type == byte || is_character(entry.type) || unit != 0;
    if (done && is_bytes && lengths.count == 1) {
      const std::uint64_t width = predefined_layout(entry.type).size;
      done = text(&entry, entry.type, at, lengths.sizes[0], name);
      end = at + width * lengths.sizes[0];
    } else if (done) {
      Place elements = place;
      done = list(entry, lengths, 0, elements);
      end = elements.at;
    }
    // The terminator belongs to the array.
    if (done && array == zero_terminated) end += table_.layout(domain_, entry.type).size;
  }
  visitor_ = visitor;
  return done;
}

// One element: a number, or a struct.
bool PayloadDecoder::one(const PayloadEntry* entry, std::uint64_t type, const Place& place,
                         std::uint64_t& end) {
  const auto& [at, name, depth] = place;
  if (type < first_custom) {
    const std::uint64_t size = predefined_layout(type).size;
    if (size == 0 || string_unit(type) != 0) return fail(PayloadResult::unsupported);
    end = at + size;
    return scalar(entry, type, at, name, size);
  }
  if (const PayloadEnum* known = table_.enumeration(domain_, type)) {
    end = at + known->size;
    return labelled(entry, *known, at, name);
  }
  const PayloadSchema* nested = table_.schema(domain_, type);
  if (nested == nullptr) return fail(PayloadResult::unknown);
  if (stands_for_its_field(*nested)) {
    if (depth >= most_payload_depth) return fail(PayloadResult::too_deep);
    if (nested->type != fixed_schema && nested->type != dynamic_schema) {
      return fail(PayloadResult::unsupported);
    }
    if (nested->entries[0].offset > bytes_.size()) return fail(PayloadResult::does_not_fit);
    const std::size_t frame = positions_.size();
    const std::uint64_t inner = at + nested->entries[0].offset;
    positions_.push_back(inner);
    if (!step(0) || !this->entry(*nested, 0, frame, {inner, name, depth + 1}, end)) return false;
    positions_.resize(frame);
    if (nested->type == fixed_schema && nested->size != 0) end = at + nested->size;
    return true;
  }
  return unless_stopped(visitor_->begin(name, false)) && fields(*nested, at, depth + 1, end) &&
         unless_stopped(visitor_->end(false));
}

bool PayloadDecoder::member(const PayloadSchema& chosen, std::uint64_t selected, const Place& place,
                            std::uint64_t& end) {
  const auto& [at, name, depth] = place;
  if (depth >= most_payload_depth) return fail(PayloadResult::too_deep);
  if (selected >= chosen.count || !fits(at, chosen.size)) {
    return fail(PayloadResult::does_not_fit);
  }
  const PayloadEntry& entry = chosen.entries[selected];
  if (entry.offset > bytes_.size()) return fail(PayloadResult::does_not_fit);
  const std::size_t frame = positions_.size();
  positions_.insert(positions_.end(), chosen.count, at);
  std::uint64_t inner = 0;
  char number[8];
  const std::string_view own =
      entry.name.data() == nullptr ? index_text(selected, number) : entry.name;
  const bool done =
      step(own.size()) && unless_stopped(visitor_->begin(name, false)) &&
      this->entry(chosen, selected, frame, {at + entry.offset, own, depth + 1}, inner) &&
      unless_stopped(visitor_->end(false));
  positions_.resize(frame);
  end = chosen.size != 0 ? at + chosen.size : inner;
  return done;
}

// Afterwards `place` is where the list ends.
bool PayloadDecoder::list(const PayloadEntry& entry, const Lengths& lengths, std::size_t dimension,
                          Place& place) {
  // More elements than bytes: nothing could be in them.
  if (lengths.sizes[dimension] > bytes_.size()) return fail(PayloadResult::does_not_fit);
  if (!unless_stopped(visitor_->begin(place.name, true))) return false;
  place.name = {};
  for (std::uint64_t i = 0; i < lengths.sizes[dimension]; ++i) {
    if (dimension + 1 < lengths.count) {
      if (!step(0) || !list(entry, lengths, dimension + 1, place)) return false;
      continue;
    }
    std::uint64_t end = 0;
    if (!step(0) || !one(&entry, entry.type, place, end)) return false;
    place.at = end;
  }
  return unless_stopped(visitor_->end(true));
}

bool PayloadDecoder::text(const PayloadEntry* entry, std::uint64_t type, std::uint64_t at,
                          std::uint64_t units, std::string_view name) {
  const std::uint64_t unit = predefined_layout(type).size;
  if (units > bytes_.size() || !fits(at, units * unit)) return fail(PayloadResult::does_not_fit);
  std::string_view data = bytes_.substr(at, units * unit);
  PayloadValue value;
  value.type = type;
  value.entry = entry;
  value.flags = entry == nullptr ? 0 : entry->flags;
  value.offset = at;
  value.kind = PayloadValue::Kind::text;
  if (type == byte) {
    value.kind = PayloadValue::Kind::bytes;
    value.text = data;
    return step(2 * data.size()) && unless_stopped(visitor_->value(name, value));
  }
  if (unit == 1) {
    value.text = data.substr(0, data.find('\0'));
  } else {
    text_.clear();
    add_wide(data, unit, text_);
    value.text = text_;
  }
  return step(value.text.size()) && unless_stopped(visitor_->value(name, value));
}

bool PayloadDecoder::scalar(const PayloadEntry* entry, std::uint64_t type, std::uint64_t at,
                            std::string_view name, std::uint64_t size) {
  if (!fits(at, size)) return fail(PayloadResult::does_not_fit);
  PayloadValue value;
  value.type = type;
  value.entry = entry;
  value.flags = entry == nullptr ? 0 : entry->flags;
  value.offset = at;
  if (is_character(type)) return text(entry, type, at, 1, name);
  read_number(type, bytes_.substr(at, size), value);
  switch (type) {
    case registered_string:
      value.label = names_->string(domain_, value.count);
      break;
    case nvtx::entry_type::category:
      value.label = names_->category(domain_, static_cast<std::uint32_t>(value.count));
      break;
    case nvtx::entry_type::scope:
      if (const PayloadScope* known = table_.scope(domain_, value.count)) value.label = known->path;
      break;
    default:
      break;
  }
  return step(value.label.size()) && unless_stopped(visitor_->value(name, value));
}

// The names of flags are joined by "|"; bits that have none are a number.
bool PayloadDecoder::labelled(const PayloadEntry* entry, const PayloadEnum& known, std::uint64_t at,
                              std::string_view name) {
  PayloadValue value;
  value.type = known.id;
  value.entry = entry;
  value.flags = entry == nullptr ? 0 : entry->flags;
  value.offset = at;
  const std::uint64_t size = known.size;
  if (size != 1 && size != 2 && size != 4 && size != 8) return fail(PayloadResult::unsupported);
  if (!fits(at, size)) return fail(PayloadResult::does_not_fit);
  std::memcpy(&value.count, bytes_.data() + at, size);
  const std::uint64_t mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  text_.clear();
  std::uint64_t left = value.count;
  for (std::size_t i = 0; i < known.count; ++i) {
    if (!step(0)) return false;
    const PayloadEnumValue& member = known.values[i];
    if (member.name.data() == nullptr) continue;
    const std::uint64_t bits = member.value & mask;
    if (bits == value.count) {
      text_.assign(member.name.data(), member.name.size());
      left = 0;
      break;
    }
    if (!member.is_flag || bits == 0 || (left & bits) != bits) continue;
    if (!text_.empty()) text_.push_back('|');
    text_.append(member.name.data(), member.name.size());
    left &= ~bits;
  }
  if (left != 0 && !text_.empty()) {
    char number[24];
    text_.push_back('|');
    const std::string_view rest = index_text(left, number);
    text_.append(rest.data(), rest.size());
  }
  if (!text_.empty()) value.label = text_;
  return step(text_.size()) && unless_stopped(visitor_->value(name, value));
}

}  // namespace nvspan::trace
