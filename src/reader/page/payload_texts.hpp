// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads as text for people.

#pragma once

#include "core/memory/page_pool.hpp"
#include "core/text/line_buffer.hpp"
#include "reader/page/blocks.hpp"
#include "reader/scan/payloads.hpp"

#include <string>

namespace nvspan::reader {

class PayloadTexts {
 public:
  explicit PayloadTexts(const Recording& recording);

  // `step=3, loss=0.25`; a lone number as it is. Empty: no text can be made of it.
  std::string of(const PageBlock& block);

 private:
  static constexpr std::size_t columns = 160;

  const Recording& recording_;
  RecordedPayloads payloads_;
  core::PagePool pool_;
  core::LineBuffer line_;
};

}  // namespace nvspan::reader
