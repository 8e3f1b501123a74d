// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"
#include "trace/event/sink.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::trace {

enum class ColorDepth : std::uint8_t { none, palette, full };

struct TextStyle {
  ColorDepth colors = ColorDepth::none;
  bool unicode = true;       // draw the nesting with box characters
  std::uint64_t origin = 0;  // the CLOCK_MONOTONIC ns that is shown as time zero
};

// One line per event for people to read, in columns: time, duration at the close, process, thread,
// the nesting with the name, and the details. Registrations that only matter to machines are left
// out. Control characters and invalid UTF-8 in names are escaped, long names cut.
class TextSink final : public Sink {
 public:
  TextSink(Output& output, core::PagePool& pool, const TextStyle& style)
      : output_(output), line_(pool), style_(style) {}

  // Extended payloads are shown by their fields from now on. Both outlive the sink.
  void show_payloads(PayloadDecoder& decoder, const PayloadNames& names) {
    decoder_ = &decoder;
    names_ = &names;
  }

  bool write(const Event& event) override;

 private:
  void add_time(const Event& event);
  void add_duration(std::int64_t duration);
  void add_thread(const Event& event);
  void add_nesting(std::int32_t levels);
  void add_body(const Event& event);
  void add_range(const Event& event, std::string_view glyph, std::string_view fallback);
  void add_swatch(std::uint32_t argb);
  void add_range_details(const Event& event);
  void add_payload(const Event& event);
  bool add_payload_fields(const Event& event);
  void add_rows(const Event& event);
  void add_note(const Event& event);
  void add_field(const Field& field);
  void add_name(std::string_view text, std::string_view when_absent);
  void add_glyphs(std::string_view unicode, std::string_view ascii, std::size_t columns);
  void add_label(std::string_view label);
  void pad_to(std::size_t column);
  void style(std::string_view code);

  Output& output_;
  core::LineBuffer line_;
  TextStyle style_;
  std::size_t column_ = 0;
  PayloadDecoder* decoder_ = nullptr;
  const PayloadNames* names_ = nullptr;
};

}  // namespace nvspan::trace
