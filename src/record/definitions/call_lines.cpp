// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/call_lines.hpp"

namespace nvspan::record {

bool CallLines::Line::write(const char* data, std::size_t size) noexcept {
  if (size != 0 && data[size - 1] == '\n') --size;
  if (within_budget_ && !budget_.take(DefinitionChunk::bytes_of(size))) {
    was_refused_ = true;
    return true;
  }
  if (!chunk_.add_bytes(DefinitionType::event, data, size)) {
    file_.lose_call(LossReason::no_space);
  }
  return true;
}

bool CallLines::add_name(const trace::Event& event) {
  line_.set_within_budget(true);
  sink_.write(event);
  if (!line_.was_refused()) return true;
  file_.lose_call(LossReason::name_budget);
  return false;
}

}  // namespace nvspan::record
