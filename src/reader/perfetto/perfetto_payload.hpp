// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/entries.hpp"
#include "reader/perfetto/proto.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// Fields as the entries of a DebugAnnotation, up to most_values of them.
class AnnotatedFields final : public trace::PayloadVisitor {
 public:
  static constexpr std::size_t most_values = 1000;

  AnnotatedFields() { open_.emplace_back(); }

  bool value(std::string_view name, const trace::PayloadValue& value) override;
  bool begin(std::string_view name, bool is_list) override;
  bool end(bool is_list) override;
  const ProtoBytes& entries() const { return open_.front().bytes; }
  bool empty() const { return values_ == 0; }

 private:
  struct Open {
    ProtoBytes bytes;
    bool is_list = false;
  };
  void add(const ProtoBytes& entry);

  std::vector<Open> open_;
  std::size_t values_ = 0;
};

// The payload as a number of PayloadType `type`, or as bytes.
void add_plain_payload(ProtoBytes& event, std::uint8_t type, const EntryPayload& payload);

}  // namespace nvspan::reader
