// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Decoded payloads as text, for people and for programs.

#pragma once

#include "core/text/line_buffer.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstddef>
#include <string_view>

namespace nvspan::trace {

struct Event;

// JSON members and elements; the caller writes what is around the outermost. Enumerations,
// registered strings, categories and scopes are what they are called, where that is known; bytes
// are in hex.
class PayloadJson final : public PayloadVisitor {
 public:
  explicit PayloadJson(core::LineBuffer& line) : line_(line) {}

  // What comes next has nothing before it.
  void restart() noexcept { follows_ = false; }

  bool value(std::string_view name, const PayloadValue& value) override;
  bool begin(std::string_view name, bool is_list) override;
  bool end(bool is_list) override;

 private:
  void start(std::string_view name);

  core::LineBuffer& line_;
  bool follows_ = false;
};

// `step=3, shape=[8, 128]`; after so many columns it has no more, but takes all of the rest.
class PayloadLine final : public PayloadVisitor {
 public:
  PayloadLine(core::LineBuffer& line, std::size_t columns) : line_(line), left_(columns) {}

  bool value(std::string_view name, const PayloadValue& value) override;
  bool begin(std::string_view name, bool is_list) override;
  bool end(bool is_list) override;
  std::size_t columns() const noexcept { return columns_; }

 private:
  bool start(std::string_view name);
  void took(std::size_t columns);

  core::LineBuffer& line_;
  std::size_t left_;
  std::size_t columns_ = 0;
  bool follows_ = false;
  bool is_full_ = false;
};

// What an event carries, as the decoder takes it, in its room. A piece that could not be copied is
// an empty one.
const core::PoolVector<PayloadPiece>& pieces_of(const Event& event, PayloadDecoder& decoder);

void add_json_value(core::LineBuffer& line, const PayloadValue& value);

// What lies one after the other in `rows`: JSON objects or values with commas in between. False:
// one could not be read, and those before it stand there.
struct PayloadRows {
  std::uint64_t domain;
  std::uint64_t schema;
  std::string_view rows;
};
PayloadResult add_json_rows(core::LineBuffer& line, PayloadDecoder& decoder,
                            const PayloadNames& names, const PayloadRows& rows);

}  // namespace nvspan::trace
