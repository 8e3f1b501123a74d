// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Between the fake driver and the fake CUPTI.

#include <cstddef>

enum class Site { enter, exit, resource };
constexpr unsigned context_created = 1;
constexpr unsigned module_loaded = 6;
// `name` and `parameters` are those of a call; of a resource there is its id alone.
using Hook = void (*)(Site site, const char* name, unsigned id, const void* parameters);
