// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>

namespace __gnu_cxx {

// In the place of the library's own, which says the exception's type too: 40 KB where it is linked
// in.
// NOLINTBEGIN(readability-identifier-naming): the name is the library's
void __verbose_terminate_handler();
void __verbose_terminate_handler() {
  std::fputs("nvspan: the recorder ends the program: an exception that it does not catch\n",
             stderr);
  std::abort();
}
// NOLINTEND(readability-identifier-naming)

}  // namespace __gnu_cxx
