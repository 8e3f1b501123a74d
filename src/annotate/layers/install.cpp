// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which tables of ours lie over the tool's, and what a tool is sent when it is attached.

#include "annotate/layers/check.hpp"
#include "annotate/layers/mirror.hpp"
#include "annotate/names/cuda_names.hpp"
#include "annotate/names/thread_names.hpp"
#include "annotate/tool/tool_layer.hpp"

namespace nvspan::annotate {

const ToolLayers tool_layers = {
    {{mirroring, mirror::table_over, nullptr},
     {check::wanted, check::table_over, check::forget_open_ranges}},
    {send_thread_namer, send_thread_names, send_cuda_names},
};

}  // namespace nvspan::annotate
