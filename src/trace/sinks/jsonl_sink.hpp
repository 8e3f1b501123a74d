// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"
#include "trace/event/sink.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <string_view>

namespace nvspan::trace {

// One JSON object per line, ASCII only. A byte that is not part of valid UTF-8 becomes \udc80 to
// \udcff, as Python's "surrogateescape" spells it, so that the original bytes can be had back.
class JsonlSink final : public Sink {
 public:
  JsonlSink(Output& output, core::PagePool& pool) : output_(output), line_(pool) {}

  // Extended payloads are shown by their fields as well from now on. Both outlive the sink.
  void show_payloads(PayloadDecoder& decoder, const PayloadNames& names) {
    decoder_ = &decoder;
    names_ = &names;
  }

  bool write(const Event& event) override;

 private:
  void add_key(std::string_view key);
  void add_value(const Field& field);
  void add_range_fields(const Event& event);
  void add_payload(const Event& event);
  void add_payload_fields(const Event& event);
  void add_rows(const Event& event);
  void add_problem(PayloadResult result);

  Output& output_;
  core::LineBuffer line_;
  PayloadDecoder* decoder_ = nullptr;
  const PayloadNames* names_ = nullptr;
};

}  // namespace nvspan::trace
