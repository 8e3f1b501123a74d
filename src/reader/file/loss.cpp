// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/loss.hpp"

namespace nvspan {

std::string_view loss_reason_text(LossReason reason) {
  switch (reason) {
    case LossReason::reentered:
      return "signal handler";
    case LossReason::no_space:
      return "no space";
    case LossReason::no_memory:
      return "no memory";
    case LossReason::too_deep:
      return "nested too deeply";
    case LossReason::name_budget:
      return "past the budget for names";
  }
  return "unknown";
}

}  // namespace nvspan
