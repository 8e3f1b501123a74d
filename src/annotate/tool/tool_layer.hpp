// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What stands above the tool's attachment and takes part in it: tables of ours that may lie over
// the tool's, and what is sent to a tool as soon as it is attached.

#include <cstddef>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// All are called under the attachment's lock.
struct ToolLayer {
  bool (*enabled)() noexcept;
  // The table that lies over `tool` (null: over none). Made once for each and immortal.
  ToolTable* (*table_over)(const ToolTable* tool) noexcept;
  void (*epoch_changed)() noexcept;  // after it has, while the layer is enabled; may be null
};

using OnAttach = void (*)(const ToolTable& tool) noexcept;

struct ToolLayers {
  static constexpr size_t layer_count = 2;
  static constexpr size_t on_attach_count = 3;
  ToolLayer layers[layer_count];  // from the tool up
  OnAttach on_attach[on_attach_count];
};

// The one list, a constant of annotate/layers/install.cpp: the linker fills it, so it is whole
// before the first tool is looked for and nobody can forget to.
extern const ToolLayers tool_layers;

}  // namespace nvspan::annotate
