// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/loss.hpp"

namespace nvspan::reader {

std::string_view loss_reason_text(record::LossReason reason) {
  switch (reason) {
    case record::LossReason::reentered:
      return "signal handler";
    case record::LossReason::no_space:
      return "no space";
    case record::LossReason::no_memory:
      return "no memory";
    case record::LossReason::too_deep:
      return "nested too deeply";
    case record::LossReason::name_budget:
      return "past the budget for names";
  }
  return "unknown";
}

}  // namespace nvspan::reader
