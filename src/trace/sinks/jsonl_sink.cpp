// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/sinks/jsonl_sink.hpp"

#include "core/text/json_text.hpp"
#include "core/text/number_text.hpp"
#include "trace/sinks/payload_text.hpp"

#include <type_traits>

namespace nvspan::trace {
namespace {

constexpr std::string_view message_type_names[] = {"none", "ascii", "unicode", "registered"};
constexpr std::string_view payload_type_names[] = {"none", "u64", "i64", "f64",    "u32",
                                                   "i32",  "f32", "ext", "unknown"};

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
    core::add_json_string(line_, event.domain);
  }
  if (event.kind <= EventKind::unclosed) add_range_fields(event);
  for (std::size_t i = 0; i < event.field_count; ++i) {
    add_key(event.fields[i].key);
    add_value(event.fields[i]);
  }
  if (event.kind > EventKind::unclosed && event.blob_count != 0) add_payload_fields(event);
  if (event.rows.data() != nullptr) add_rows(event);
  line_.add("}\n");
  return output_.write(line_.data(), line_.size());
}

void JsonlSink::add_key(std::string_view key) {
  line_.add(", \"");
  line_.add(key);
  line_.add("\": ");
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
      core::add_json_real(line_, field.real);
      break;
    case FieldType::text:
      core::add_json_string(line_, field.text);
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
  core::add_json_string(line_, event.message);
  add_key("message_type");
  core::add_json_string(line_, message_type_names[static_cast<std::size_t>(event.message_type)]);
  add_key("color");
  if (event.has_color) {
    line_.add_unsigned(event.color);
  } else {
    line_.add("null");
  }
  add_key("category");
  line_.add_unsigned(event.category);
  add_key("category_name");
  core::add_json_string(line_, event.category_name);
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
  const auto add = [&](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      if (!core::add_real(line_, value)) core::add_json_real(line_, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<decltype(value)>) {
      line_.add_signed(value);
    } else {
      line_.add_unsigned(value);
    }
  };
  if (!use_scalar(event.payload_type, event.payload_bits, add)) line_.add("null");
  add_key("payload_type");
  core::add_json_string(line_, payload_type_names[static_cast<std::size_t>(event.payload_type)]);
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
      core::add_json_string(line_, blob.error);
    }
    line_.add('}');
  }
  line_.add(']');
  add_payload_fields(event);
}

void JsonlSink::add_problem(PayloadResult result) {
  add_key("payload_error");
  core::add_json_string(line_, payload_result_text(result));
}

void JsonlSink::add_payload_fields(const Event& event) {
  if (decoder_ == nullptr) return;
  const core::PoolVector<PayloadPiece>& pieces = pieces_of(event, *decoder_);
  if (pieces.empty()) return;
  const std::size_t before = line_.size();
  add_key("payload_fields");
  line_.add('{');
  const std::size_t begun = line_.size();
  PayloadJson json(line_);
  const PayloadResult result =
      decoder_->decode({event.domain_handle, *names_, json}, pieces.data(), pieces.size());
  const bool any = line_.size() != begun;
  line_.add('}');
  if (result == PayloadResult::whole && any) return;
  line_.cut(before);
  if (result == PayloadResult::whole) return;
  add_problem(result);
}

void JsonlSink::add_rows(const Event& event) {
  if (decoder_ == nullptr) return;
  add_key(event.kind == EventKind::event_batch ? "events" : "values");
  line_.add('[');
  const PayloadResult result = add_json_rows(
      line_, *decoder_, *names_, PayloadRows{event.domain_handle, event.row_schema, event.rows});
  line_.add(']');
  if (result != PayloadResult::whole) add_problem(result);
}

}  // namespace nvspan::trace
