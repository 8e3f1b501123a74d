// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A dispatch table of ours that lies over a tool's, or over none: its slots are those below but for
// the ones that it takes. Immortal, as all tables are.

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

#if NVSPAN_HAVE_NVTX

class Overlay {
 public:
  // `tool` null: over none. Domains get placeholder handles there.
  explicit Overlay(const ToolTable* tool) noexcept;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // `slot` is kept, not its contents.
  void take(NvtxCallbackIdCore2 id, NvtxFunctionPointer* slot) noexcept { core2_[id] = slot; }
  ToolTable* table() noexcept { return &table_; }

 private:
  ToolTable table_;
  NvtxFunctionPointer* core_[NVTX_CBID_CORE_SIZE];
  NvtxFunctionPointer* core2_[NVTX_CBID_CORE2_SIZE];
};

// The overlays that take the same slots, one over each tool. Static, and never destroyed.
class Overlays {
 public:
  struct Taken {
    NvtxCallbackIdCore2 id;
    NvtxFunctionPointer* slot;
  };

  // The table over `tool`, which is what below() calls from now on. Made once for each.
  ToolTable* over(const ToolTable* tool, std::initializer_list<Taken> taken) noexcept;

  // NVTX callbacks carry no context: what is below is the process's, and set before the table over
  // it is published. Null: nothing is there.
  template <class Function>
  Function below(unsigned id) const noexcept {
    const ToolTable* tool = below_.load(std::memory_order_acquire);
    return tool ? tool->core2_slot<Function>(id) : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<const ToolTable*, std::unique_ptr<Overlay>>* overlays_ = nullptr;  // under the mutex
  std::atomic<const ToolTable*> below_{nullptr};
};

#endif

}  // namespace nvspan::annotate
