// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Null, or why this interpreter cannot be read.
const char* nvspan_layout_of_python(nvspan_layout* layout);
// Null where calls cannot be told. The caller holds the GIL.
const nvspan_calls* nvspan_calls_of_python(void);

#ifdef __cplusplus
}
#endif
