// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What check mode has found, and its way to the host language.

#include <cstdint>
#include <string>

#include "annotate/layers/check.hpp"

namespace nvspan::annotate::check {

struct CheckedRange;

// The host's; nothing happens, or 0 is returned, without one.
uint32_t call_site() noexcept;
std::string site_text(uint32_t site);
const void* current_task() noexcept;

// Counts a report of this kind and sites, and tells the host.
void report(CheckKind kind, uint32_t site, uint32_t other, std::string text) noexcept;
void report_at_exit(CheckKind kind, uint32_t site, std::string text) noexcept;

// A range that its thread, or the process, leaves open.
void report_open(const CheckedRange& entry, bool of_process) noexcept;

}  // namespace nvspan::annotate::check
