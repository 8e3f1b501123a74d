// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The process that writes a recording, as the system knows it.

#pragma once

#include "record/file/format.hpp"

namespace nvspan::reader {

// Whether the recording began since this machine was started.
bool is_of_this_boot(const record::FileHeader& header);
// Whether the process has ended, whoever has its number now.
bool is_writer_gone(const record::FileHeader& header);

}  // namespace nvspan::reader
