// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

namespace nvspan::record {

// The fields of a recording's header that describe this process: its ids, host, place in a job, and
// command.
void describe_process(FileHeader& header) noexcept;

}  // namespace nvspan::record
