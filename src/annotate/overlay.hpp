// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A dispatch table of ours that lies over a tool's, or over none: its slots are those below but for
// the ones that it takes. Immortal, as all tables are.

#include "annotate/tool.hpp"

namespace nvspan {

#if NVSPAN_HAVE_NVTX

class Overlay {
 public:
  // `tool` null: over none. Domains are told apart by made-up handles there.
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

#endif

}  // namespace nvspan
