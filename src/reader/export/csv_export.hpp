// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A table of a recording as text: RFC 4180 with a heading, lines that end in "\n", and nothing
// where there is no value.

#pragma once

#include "reader/tables/columns.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nvspan::reader {

// What the numbers of a column are called, without quotes or commas; a larger number is the last of
// them.
using ColumnWords = std::map<std::string, std::vector<std::string>>;

// The columns of the table, then "pid" and "tid" of each row's thread. `progress` is called now and
// then with the number of rows that are done. With `escape_formulas` a "'" stands before a text or
// heading that a spreadsheet would take for a formula; numbers are left as they are. Throws
// std::system_error when the file cannot be written.
void export_csv(Columns& columns, const std::string& table, const std::string& path,
                const ColumnWords& words, const std::function<void(std::size_t)>& progress,
                bool escape_formulas = false);

}  // namespace nvspan::reader
