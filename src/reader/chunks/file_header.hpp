// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <string>

namespace nvspan::reader {

// The header of a file, without the rest. False: it cannot be read, or is no recording.
bool read_file_header(const std::string& path, record::FileHeader& header);

}  // namespace nvspan::reader
