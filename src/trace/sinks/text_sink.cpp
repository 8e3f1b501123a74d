// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/sinks/text_sink.hpp"

#include "core/text/number_text.hpp"
#include "core/text/printable.hpp"
#include "trace/sinks/payload_text.hpp"

#include <type_traits>

namespace nvspan::trace {
namespace {

constexpr std::size_t time_columns = 11;
constexpr std::size_t second_columns = 4;
constexpr std::size_t duration_columns = 9;
constexpr std::size_t pid_columns = 8;
constexpr std::size_t thread_columns = 14;  // with a space before it and one after it
constexpr std::size_t tree_column = time_columns + duration_columns + pid_columns + thread_columns;
constexpr std::size_t details_column = tree_column + 32;
constexpr std::size_t name_limit = 120;
constexpr std::size_t value_limit = 120;
constexpr std::size_t shown_bytes = 16;
constexpr std::size_t payload_columns = 160;
constexpr std::int32_t drawn_levels = 20;

constexpr std::string_view dim = "2";
constexpr std::string_view bold = "1";
constexpr std::string_view warn = "33";
constexpr std::string_view plain = "0";

bool for_machines(EventKind kind) {
  switch (kind) {
    case EventKind::domain_create:
    case EventKind::domain_destroy:
    case EventKind::register_string:
    case EventKind::name_category:
    case EventKind::schema_register:
    case EventKind::enum_register:
    case EventKind::scope_register:
    case EventKind::time_domain_register:
    case EventKind::timer_source:
    case EventKind::time_sync_point:
    case EventKind::time_sync_table:
    case EventKind::time_conversion:
    case EventKind::counter_register:
      return true;
    default:
      return false;
  }
}

std::size_t digits_of(std::uint64_t value) {
  std::size_t count = 1;
  while (value >= 10) {
    value /= 10;
    ++count;
  }
  return count;
}

void add_padded(core::LineBuffer& line, std::uint64_t value, std::size_t columns, char padding) {
  const std::size_t digits = digits_of(value);
  if (digits < columns) line.fill(columns - digits, padding);
  line.add_unsigned(value);
}

}  // namespace

bool TextSink::write(const Event& event) {
  if (for_machines(event.kind)) return true;
  line_.clear();
  column_ = 0;
  add_time(event);
  add_duration(event.duration);
  add_thread(event);
  add_body(event);
  line_.add('\n');
  return output_.write(line_.data(), line_.size());
}

void TextSink::style(std::string_view code) {
  if (style_.colors == ColorDepth::none) return;
  line_.add("\x1b[");
  line_.add(code);
  line_.add('m');
}

void TextSink::pad_to(std::size_t column) {
  if (column_ >= column) return;
  line_.fill(column - column_, ' ');
  column_ = column;
}

void TextSink::add_time(const Event& event) {
  const std::uint64_t since = event.ts > style_.origin ? event.ts - style_.origin : 0;
  const std::uint64_t seconds = since / 1000000000;
  style(dim);
  add_padded(line_, seconds, second_columns, ' ');
  line_.add('.');
  add_padded(line_, since / 1000 % 1000000, 6, '0');
  style(plain);
  const std::size_t digits = digits_of(seconds);
  column_ = (digits > second_columns ? digits : second_columns) + 7;
  pad_to(time_columns);
}

void TextSink::add_duration(std::int64_t duration) {
  if (duration < 0) {
    pad_to(time_columns + duration_columns);
    return;
  }
  const core::DurationText text(static_cast<std::uint64_t>(duration));
  const std::size_t number = text.number().size();
  style(bold);
  if (number < duration_columns - 3) line_.fill(duration_columns - 3 - number, ' ');
  line_.add(text.number());
  line_.add(' ');
  line_.add(text.unit());
  if (text.unit().size() == 1) line_.add(' ');
  style(plain);
  const std::size_t taken = number > duration_columns - 3 ? number + 3 : duration_columns;
  column_ += taken;
}

void TextSink::add_thread(const Event& event) {
  style(dim);
  add_padded(line_, event.pid, pid_columns, ' ');
  line_.add(' ');
  column_ += pid_columns + 1;
  const std::size_t start = column_;
  if (event.thread_name.data() != nullptr) {
    column_ += core::add_shortened(line_, event.thread_name, thread_columns - 2,
                                   style_.unicode ? "\u2026" : "~");
  } else if (event.tid == event.pid) {
    line_.add("main");
    column_ += 4;
  } else {
    line_.add_unsigned(event.tid);
    column_ += digits_of(event.tid);
  }
  style(plain);
  line_.add(' ');
  ++column_;
  pad_to(start + thread_columns - 1);
}

void TextSink::add_glyphs(std::string_view unicode, std::string_view ascii, std::size_t columns) {
  line_.add(style_.unicode ? unicode : ascii);
  column_ += columns;
}

void TextSink::add_nesting(std::int32_t levels) {
  if (levels <= 0) return;
  style(dim);
  const std::int32_t drawn = levels < drawn_levels ? levels : drawn_levels;
  for (std::int32_t i = 0; i < drawn; ++i) add_glyphs("\u2502  ", "|  ", 3);
  if (levels > drawn) {
    line_.add('+');
    line_.add_unsigned(static_cast<std::uint64_t>(levels - drawn));
    line_.add(' ');
    column_ += 2 + digits_of(static_cast<std::uint64_t>(levels - drawn));
  }
  style(plain);
}

void TextSink::add_body(const Event& event) {
  add_nesting(event.nesting);
  switch (event.kind) {
    case EventKind::mark:
      return add_range(event, "\u25c6  ", "*  ");
    case EventKind::push:
      return add_range(event, "\u256d\u2500 ", "+- ");
    case EventKind::pop:
      if (event.duration < 0) return add_range(event, "\u2715  ", "x  ");
      return add_range(event, "\u2570\u2500 ", "`- ");
    case EventKind::start:
      return add_range(event, "\u25b6  ", ">  ");
    case EventKind::end:
      if (event.duration < 0) return add_range(event, "\u2715  ", "x  ");
      return add_range(event, "\u25a0  ", "#  ");
    case EventKind::unclosed:
      return add_range(event, "\u2504\u2504 ", "?? ");
    default:
      return add_note(event);
  }
}

void TextSink::add_swatch(std::uint32_t argb) {
  if (style_.colors == ColorDepth::none) return;
  const std::uint32_t red = argb >> 16 & 0xFF;
  const std::uint32_t green = argb >> 8 & 0xFF;
  const std::uint32_t blue = argb & 0xFF;
  line_.add("\x1b[38;");
  if (style_.colors == ColorDepth::full) {
    line_.add("2;");
    line_.add_unsigned(red);
    line_.add(';');
    line_.add_unsigned(green);
    line_.add(';');
    line_.add_unsigned(blue);
  } else {
    line_.add("5;");
    const auto step = [](std::uint32_t value) { return (value * 5 + 127) / 255; };
    line_.add_unsigned(16 + 36 * step(red) + 6 * step(green) + step(blue));
  }
  line_.add('m');
  add_glyphs("\u2588", "#", 1);
  style(plain);
  line_.add(' ');
  ++column_;
}

void TextSink::add_name(std::string_view text, std::string_view when_absent) {
  if (text.data() == nullptr) {
    style(dim);
    line_.add(when_absent);
    column_ += when_absent.size();
    style(plain);
    return;
  }
  column_ += core::add_printable(line_, text, name_limit);
}

void TextSink::add_range(const Event& event, std::string_view glyph, std::string_view fallback) {
  add_glyphs(glyph, fallback, 3);
  if (event.has_color) add_swatch(event.color);
  if (event.has_open_color) add_swatch(event.open_color);
  const bool closes = event.kind == EventKind::pop || event.kind == EventKind::end;
  if (closes && event.duration < 0) {
    style(warn);
    add_name(std::string_view(), event.kind == EventKind::pop ? "pop without an open range"
                                                              : "end without an open range");
  } else {
    add_name(event.message, "(no name)");
  }
  add_range_details(event);
}

void TextSink::add_label(std::string_view label) {
  if (column_ < details_column) {
    pad_to(details_column);
  } else {
    line_.add("  ");
    column_ += 2;
  }
  line_.add(label);
  column_ += label.size();
}

void TextSink::add_range_details(const Event& event) {
  if (event.domain.data() != nullptr) {
    add_label("[");
    column_ += core::add_printable(line_, event.domain, value_limit);
    line_.add(']');
    ++column_;
  }
  if (event.category != 0) {
    add_label("category=");
    if (event.category_name.data() != nullptr) {
      column_ += core::add_printable(line_, event.category_name, value_limit);
    } else {
      line_.add_unsigned(event.category);
    }
  }
  if (event.payload_type != PayloadType::none) add_payload(event);
  if (event.kind == EventKind::start || event.kind == EventKind::end) {
    add_label("id=");
    line_.add_unsigned(event.range_id);
  }
  if (event.kind == EventKind::unclosed) add_label("never closed");
  for (std::size_t i = 0; i < event.field_count; ++i) add_field(event.fields[i]);
}

void TextSink::add_payload(const Event& event) {
  if (event.payload_type == PayloadType::ext) {
    if (add_payload_fields(event)) return;
    for (std::size_t i = 0; i < event.blob_count; ++i) {
      const PayloadBlob& blob = event.blobs[i];
      add_label("payload=");
      if (blob.error != nullptr) {
        line_.add(blob.error);
        continue;
      }
      line_.add_hex(blob.data.substr(0, shown_bytes));
      if (blob.data.size() > shown_bytes) line_.add("...");
      line_.add(" (");
      line_.add_unsigned(blob.data.size());
      line_.add(" bytes)");
    }
    return;
  }
  add_label("payload=");
  const auto add = [&](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      if (!core::add_real(line_, value))
        line_.add(core::not_finite_name(static_cast<double>(value)));
    } else if constexpr (std::is_signed_v<decltype(value)>) {
      line_.add_signed(value);
    } else {
      line_.add_unsigned(value);
    }
  };
  if (!use_scalar(event.payload_type, event.payload_bits, add)) line_.add("?");
}

// False, and nothing, where not all of it can be read.
bool TextSink::add_payload_fields(const Event& event) {
  if (decoder_ == nullptr || event.blob_count == 0) return false;
  const core::PoolVector<PayloadPiece>& pieces = pieces_of(event, *decoder_);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (event.blobs[i].error != nullptr) return false;
  }
  const std::size_t before = line_.size();
  const std::size_t column = column_;
  add_label("payload={");
  PayloadLine fields(line_, payload_columns);
  const PayloadResult result =
      decoder_->decode({event.domain_handle, *names_, fields}, pieces.data(), pieces.size());
  if (result == PayloadResult::whole) {
    line_.add('}');
    column_ += fields.columns() + 1;
    return true;
  }
  line_.cut(before);
  column_ = column;
  return false;
}

// The first of a batch, or the sample.
void TextSink::add_rows(const Event& event) {
  if (decoder_ == nullptr || event.rows.empty()) return;
  const std::size_t before = line_.size();
  const std::size_t column = column_;
  add_label("first={");
  PayloadLine fields(line_, payload_columns);
  std::uint64_t used = 0;
  auto result = PayloadResult::unknown;
  if (event.row_schema >= nvtx::entry_type::first_custom) {
    result = decoder_->decode_first({event.domain_handle, *names_, fields}, event.row_schema,
                                    event.rows, used);
  } else {
    const PayloadPiece piece{event.row_schema, event.rows};
    result = decoder_->decode({event.domain_handle, *names_, fields}, &piece, 1);
  }
  if (result == PayloadResult::whole) {
    line_.add('}');
    column_ += fields.columns() + 1;
    return;
  }
  line_.cut(before);
  column_ = column;
}

void TextSink::add_note(const Event& event) {
  style(event.kind == EventKind::lost ? warn : dim);
  add_glyphs("\u00b7  ", ".  ", 3);
  if (event.kind == EventKind::init) {
    line_.add("NVTX connected: ");
    for (std::size_t i = 0; i < event.field_count; ++i) {
      if (event.fields[i].type == FieldType::text) {
        column_ += core::add_printable(line_, event.fields[i].text, 2 * value_limit);
      }
    }
    style(plain);
    return;
  }
  for (const char byte : event_kind_name(event.kind)) line_.add(byte == '_' ? ' ' : byte);
  column_ += event_kind_name(event.kind).size();
  if (event.message.data() != nullptr) {
    line_.add(' ');
    ++column_;
    column_ += core::add_printable(line_, event.message, name_limit);
  }
  if (event.has_domain) add_range_details(event);
  if (event.payload_type == PayloadType::none) add_payload_fields(event);
  add_rows(event);
  if (!event.has_domain) {
    for (std::size_t i = 0; i < event.field_count; ++i) add_field(event.fields[i]);
  }
  style(plain);
}

void TextSink::add_field(const Field& field) {
  if (field.type == FieldType::null || field.key == nullptr) return;
  if (field.type == FieldType::text && field.text.data() == nullptr) return;
  add_label(field.key);
  line_.add('=');
  ++column_;
  const std::size_t before = line_.size();
  switch (field.type) {
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
      if (!core::add_real(line_, field.real)) line_.add(core::not_finite_name(field.real));
      break;
    case FieldType::text:
      column_ += core::add_printable(line_, field.text, value_limit);
      return;
    case FieldType::bytes:
      line_.add_hex(field.text.substr(0, shown_bytes));
      if (field.text.size() > shown_bytes) line_.add("...");
      break;
    default:
      line_.add_unsigned(field.child_count);
      line_.add(" entries");
      break;
  }
  column_ += line_.size() - before;
}

}  // namespace nvspan::trace
