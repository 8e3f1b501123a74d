// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The columns that a CREATE TABLE statement names.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

struct SqliteColumns {
  std::vector<std::string> names;
  std::vector<std::string> types;  // as they stand there
  int row_id = -1;                 // of the column that is the row's id
  bool has_row_ids = true;         // else the table lies in an index
};

SqliteColumns read_create_table(std::string_view statement);

}  // namespace nvspan::reader
