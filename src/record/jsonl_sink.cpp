// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/jsonl_sink.hpp"

#include "record/number_text.hpp"
#include "record/utf8.hpp"

#include <cmath>
#include <cstring>

namespace nvspan {
namespace {

constexpr std::string_view message_type_names[] = {"none", "ascii", "unicode", "registered"};
constexpr std::string_view payload_type_names[] = {"none", "u64", "i64", "f64",    "u32",
                                                   "i32",  "f32", "ext", "unknown"};

void add_unit(LineBuffer& line, std::uint32_t unit) {
  const char bytes[2] = {static_cast<char>(unit >> 8), static_cast<char>(unit & 0xFF)};
  line.add("\\u");
  line.add_hex(std::string_view(bytes, 2));
}

template <typename T>
T payload_as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

bool JsonlSink::write(const Event& event) {
  line_.clear();
  line_.add("{\"kind\": \"");
  line_.add(event_kind_name(event.kind));
  line_.add("\", \"pid\": ");
  line_.add_unsigned(event.pid);
  line_.add(", \"tid\": ");
  line_.add_unsigned(event.tid);
  line_.add(", \"ts\": ");
  line_.add_unsigned(event.ts);
  if (event.has_domain) {
    add_key("domain");
    add_string(event.domain);
  }
  if (event.kind <= EventKind::unclosed) add_range_fields(event);
  for (std::size_t i = 0; i < event.field_count; ++i) {
    add_key(event.fields[i].key);
    add_value(event.fields[i]);
  }
  line_.add("}\n");
  return output_.write(line_.data(), line_.size());
}

void JsonlSink::add_key(std::string_view key) {
  line_.add(", \"");
  line_.add(key);
  line_.add("\": ");
}

void JsonlSink::add_string(std::string_view text) {
  if (text.data() == nullptr) {
    line_.add("null");
    return;
  }
  line_.add('"');
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = decode_utf8(text, code_point);
    if (length == 0) {
      add_unit(line_, 0xDC00u + static_cast<unsigned char>(text[0]));
    } else if (code_point == '"' || code_point == '\\') {
      line_.add('\\');
      line_.add(static_cast<char>(code_point));
    } else if (code_point == '\n') {
      line_.add("\\n");
    } else if (code_point == '\t') {
      line_.add("\\t");
    } else if (code_point >= 0x20 && code_point < 0x7F) {
      line_.add(static_cast<char>(code_point));
    } else if (code_point < 0x10000) {
      add_unit(line_, code_point);
    } else {
      add_unit(line_, 0xD800u + ((code_point - 0x10000) >> 10));
      add_unit(line_, 0xDC00u + ((code_point - 0x10000) & 0x3FF));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  line_.add('"');
}

void JsonlSink::add_double_value(double value) {
  if (add_double(line_, value)) return;
  line_.add('"');
  line_.add(not_finite_name(value));
  line_.add('"');
}

void JsonlSink::add_value(const Field& field) {
  switch (field.type) {
    case FieldType::null:
      line_.add("null");
      break;
    case FieldType::boolean:
      line_.add(field.boolean ? "true" : "false");
      break;
    case FieldType::integer:
      line_.add_signed(field.integer);
      break;
    case FieldType::unsigned_integer:
      line_.add_unsigned(field.unsigned_integer);
      break;
    case FieldType::real:
      add_double_value(field.real);
      break;
    case FieldType::text:
      add_string(field.text);
      break;
    case FieldType::bytes:
      if (field.text.data() == nullptr) {
        line_.add("null");
      } else {
        line_.add('"');
        line_.add_hex(field.text);
        line_.add('"');
      }
      break;
    case FieldType::list:
      line_.add('[');
      for (std::size_t i = 0; i < field.child_count; ++i) {
        if (i != 0) line_.add(", ");
        add_value(field.children[i]);
      }
      line_.add(']');
      break;
    case FieldType::object:
      line_.add('{');
      for (std::size_t i = 0; i < field.child_count; ++i) {
        line_.add(i == 0 ? "\"" : ", \"");
        line_.add(field.children[i].key);
        line_.add("\": ");
        add_value(field.children[i]);
      }
      line_.add('}');
      break;
  }
}

void JsonlSink::add_range_fields(const Event& event) {
  add_key("message");
  add_string(event.message);
  add_key("message_type");
  add_string(message_type_names[static_cast<std::size_t>(event.message_type)]);
  add_key("color");
  if (event.has_color) {
    line_.add_unsigned(event.color);
  } else {
    line_.add("null");
  }
  add_key("category");
  line_.add_unsigned(event.category);
  add_key("category_name");
  add_string(event.category_name);
  add_payload(event);
  if (event.kind == EventKind::push || event.kind == EventKind::pop) {
    add_key("depth");
    line_.add_signed(event.depth);
  }
  if (event.kind == EventKind::start || event.kind == EventKind::end) {
    add_key("id");
    line_.add_unsigned(event.range_id);
  }
  if (event.kind == EventKind::pop || event.kind == EventKind::end ||
      event.kind == EventKind::unclosed) {
    add_key("dur");
    if (event.duration >= 0) {
      line_.add_signed(event.duration);
    } else {
      line_.add("null");
    }
  }
}

void JsonlSink::add_payload(const Event& event) {
  add_key("payload");
  switch (event.payload_type) {
    case PayloadType::u64:
      line_.add_unsigned(event.payload_bits);
      break;
    case PayloadType::i64:
      line_.add_signed(payload_as<std::int64_t>(event.payload_bits));
      break;
    case PayloadType::f64:
      add_double_value(payload_as<double>(event.payload_bits));
      break;
    case PayloadType::u32:
      line_.add_unsigned(payload_as<std::uint32_t>(event.payload_bits));
      break;
    case PayloadType::i32:
      line_.add_signed(payload_as<std::int32_t>(event.payload_bits));
      break;
    case PayloadType::f32: {
      const float value = payload_as<float>(event.payload_bits);
      if (!add_float(line_, value)) add_double_value(static_cast<double>(value));
      break;
    }
    case PayloadType::none:
    case PayloadType::ext:
    case PayloadType::unknown:
      line_.add("null");
      break;
  }
  add_key("payload_type");
  add_string(payload_type_names[static_cast<std::size_t>(event.payload_type)]);
  if (event.payload_type != PayloadType::ext) return;
  add_key("payload_data");
  line_.add('[');
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    const PayloadBlob& blob = event.blobs[i];
    if (i != 0) line_.add(", ");
    line_.add("{\"schema\": ");
    line_.add_unsigned(blob.schema_id);
    line_.add(", \"hex\": ");
    if (blob.data.data() != nullptr) {
      line_.add('"');
      line_.add_hex(blob.data);
      line_.add('"');
    } else {
      line_.add("null");
    }
    if (blob.error != nullptr) {
      add_key("size");
      line_.add_unsigned(blob.size);
      add_key("error");
      add_string(blob.error);
    }
    line_.add('}');
  }
  line_.add(']');
}

}  // namespace nvspan
