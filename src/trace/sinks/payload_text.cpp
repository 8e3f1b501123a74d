// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/sinks/payload_text.hpp"

#include "core/text/json_text.hpp"
#include "core/text/number_text.hpp"
#include "core/text/printable.hpp"
#include "trace/event/event.hpp"

#include <cmath>

namespace nvspan::trace {
namespace {

using Kind = PayloadValue::Kind;

bool is_single(const PayloadValue& value) {
  return value.type == nvtx::entry_type::c_float || value.type == nvtx::entry_type::float32;
}

// False: not finite.
bool add_real_value(core::LineBuffer& line, const PayloadValue& value) {
  return is_single(value) ? core::add_real(line, static_cast<float>(value.real))
                          : core::add_real(line, value.real);
}

}  // namespace

const core::PoolVector<PayloadPiece>& pieces_of(const Event& event, PayloadDecoder& decoder) {
  core::PoolVector<PayloadPiece>& pieces = decoder.room();
  pieces.clear();
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    pieces.push_back(PayloadPiece{event.blobs[i].schema_id, event.blobs[i].data});
  }
  return pieces;
}

void add_json_value(core::LineBuffer& line, const PayloadValue& value) {
  if (value.label.data() != nullptr) return core::add_json_string(line, value.label);
  switch (value.kind) {
    case Kind::integer:
      return line.add_signed(value.integer);
    case Kind::count:
      return line.add_unsigned(value.count);
    case Kind::real:
      if (!add_real_value(line, value)) core::add_json_real(line, value.real);
      return;
    case Kind::text:
      return core::add_json_string(line, value.text.data() == nullptr ? "" : value.text);
    case Kind::bytes:
      line.add('"');
      line.add_hex(value.text);
      line.add('"');
      return;
  }
}

void PayloadJson::start(std::string_view name) {
  if (follows_) line_.add(", ");
  follows_ = true;
  if (name.data() == nullptr) return;
  core::add_json_string(line_, name);
  line_.add(": ");
}

bool PayloadJson::value(std::string_view name, const PayloadValue& value) {
  start(name);
  add_json_value(line_, value);
  return true;
}

bool PayloadJson::begin(std::string_view name, bool is_list) {
  start(name);
  line_.add(is_list ? '[' : '{');
  follows_ = false;
  return true;
}

bool PayloadJson::end(bool is_list) {
  line_.add(is_list ? ']' : '}');
  follows_ = true;
  return true;
}

void PayloadLine::took(std::size_t columns) {
  columns_ += columns;
  left_ -= columns < left_ ? columns : left_;
}

// False: there is no place for it.
bool PayloadLine::start(std::string_view name) {
  if (is_full_) return false;
  if (follows_) {
    line_.add(", ");
    took(2);
  }
  if (left_ == 0) {
    line_.add("...");
    columns_ += 3;
    is_full_ = true;
    return false;
  }
  follows_ = true;
  if (name.data() == nullptr) return true;
  took(core::add_printable(line_, name, left_));
  line_.add('=');
  took(1);
  return true;
}

bool PayloadLine::value(std::string_view name, const PayloadValue& value) {
  if (!start(name)) return true;
  constexpr std::size_t most_bytes = 16;
  const std::size_t before = line_.size();
  if (value.label.data() != nullptr) {
    took(core::add_printable(line_, value.label, left_ + 1));
    return true;
  }
  switch (value.kind) {
    case Kind::integer:
      line_.add_signed(value.integer);
      break;
    case Kind::count:
      line_.add_unsigned(value.count);
      break;
    case Kind::real:
      if (!add_real_value(line_, value)) line_.add(core::not_finite_name(value.real));
      break;
    case Kind::text:
      took(core::add_printable(line_, value.text, left_ + 1));
      return true;
    case Kind::bytes:
      line_.add_hex(value.text.substr(0, most_bytes));
      if (value.text.size() > most_bytes) line_.add("...");
      break;
  }
  took(line_.size() - before);
  return true;
}

bool PayloadLine::begin(std::string_view name, bool is_list) {
  if (!start(name)) return true;
  line_.add(is_list ? '[' : '{');
  took(1);
  follows_ = false;
  return true;
}

bool PayloadLine::end(bool is_list) {
  if (is_full_) return true;
  line_.add(is_list ? ']' : '}');
  took(1);
  follows_ = true;
  return true;
}

PayloadResult add_json_rows(core::LineBuffer& line, PayloadDecoder& decoder,
                            const PayloadNames& names, const PayloadRows& rows) {
  constexpr std::size_t most_bytes = 16 * 1024 * 1024;
  if (rows.schema < nvtx::entry_type::first_custom) {
    // As a list is written, but without what is around it.
    const std::uint64_t unit = predefined_layout(rows.schema).size;
    if (unit == 0) return PayloadResult::unknown;
    PayloadJson json(line);
    for (std::string_view left = rows.rows; !left.empty(); left.remove_prefix(unit)) {
      if (left.size() < unit) return PayloadResult::does_not_fit;
      const PayloadPiece piece{rows.schema, left.substr(0, unit)};
      struct First final : PayloadVisitor {
        explicit First(PayloadJson& json) : to(json) {}
        bool value(std::string_view, const PayloadValue& given) override {
          return to.value({}, given);
        }
        PayloadJson& to;
      } first(json);
      const PayloadResult result = decoder.decode({rows.domain, names, first}, &piece, 1);
      if (result != PayloadResult::whole) return result;
    }
    return PayloadResult::whole;
  }
  const std::size_t begun = line.size();
  for (std::string_view left = rows.rows; !left.empty();) {
    const std::size_t before = line.size();
    if (before - begun > most_bytes) return PayloadResult::too_large;
    if (left.size() != rows.rows.size()) line.add(", ");
    line.add('{');
    PayloadJson json(line);
    std::uint64_t used = 0;
    const PayloadResult result =
        decoder.decode_first({rows.domain, names, json}, rows.schema, left, used);
    if (result != PayloadResult::whole) {
      line.cut(before);
      return result;
    }
    line.add('}');
    left.remove_prefix(used < left.size() ? used : left.size());
  }
  return PayloadResult::whole;
}

}  // namespace nvspan::trace
