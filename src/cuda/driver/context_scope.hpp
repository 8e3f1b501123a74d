// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

// A context made current for a scope, if it is not.
class ContextScope {
 public:
  ContextScope() = default;
  ~ContextScope() {
    if (pushed_) {
      ContextHandle popped;
      api_->cuCtxPopCurrent_v2(&popped);
    }
  }
  bool push(const Driver& api, ContextHandle context) noexcept {
    api_ = &api;
    pushed_ = api.cuCtxPushCurrent_v2(context) == success;
    return pushed_;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver* api_ = nullptr;
  bool pushed_ = false;
};

}  // namespace nvspan::cuda
