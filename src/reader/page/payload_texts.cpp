// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/payload_texts.hpp"

#include "core/text/number_text.hpp"
#include "trace/payload/payload.hpp"
#include "trace/sinks/payload_text.hpp"

#include <type_traits>

namespace nvspan::reader {

PayloadTexts::PayloadTexts(const Recording& recording)
    : recording_(recording), payloads_(recording), line_(pool_) {}

std::string PayloadTexts::of(const PageBlock& block) {
  const EntryPayload& payload = block.payload;
  const ReadSite& site = recording_.sites()[block.site];
  if (payload.bytes != nullptr) {
    line_.clear();
    trace::PayloadLine fields(line_, columns);
    payloads_.read(block.process, site.local_domain, payload.bytes, payload.bits, fields);
    return std::string(line_.data(), line_.size());
  }
  std::string text;
  trace::use_scalar(static_cast<trace::PayloadType>(site.own_payload_type()), payload.bits,
                    [&](auto number) {
                      if constexpr (std::is_floating_point_v<decltype(number)>) {
                        text = core::NumberText(number).view();
                      } else {
                        text = std::to_string(number);
                      }
                    });
  return text;
}

}  // namespace nvspan::reader
