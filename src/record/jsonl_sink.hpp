// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/line_buffer.hpp"
#include "record/output.hpp"
#include "record/sink.hpp"

#include <string_view>

namespace nvspan {

// One JSON object per line, ASCII only. A byte that is not part of valid UTF-8 becomes \udc80 to
// \udcff, as Python's "surrogateescape" spells it, so that the original bytes can be had back.
class JsonlSink final : public Sink {
 public:
  JsonlSink(Output& output, PagePool& pool) : output_(output), line_(pool) {}

  bool write(const Event& event) override;

 private:
  void add_key(std::string_view key);
  void add_string(std::string_view text);
  void add_double_value(double value);
  void add_value(const Field& field);
  void add_range_fields(const Event& event);
  void add_payload(const Event& event);

  Output& output_;
  LineBuffer line_;
};

}  // namespace nvspan
