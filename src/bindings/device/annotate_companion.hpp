// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The GPU's part of annotate(device=True) and annotate(sync=True).

namespace nvspan::bindings {

// Sets `companion_calls`.
void annotate_device_init() noexcept;

}  // namespace nvspan::bindings
