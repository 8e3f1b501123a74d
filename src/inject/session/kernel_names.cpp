// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/kernel_names.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace nvspan::inject {
namespace {

std::string demangled(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): of __cxa_demangle
  return result;
}

}  // namespace

KernelNames::Name& KernelNames::find(std::string_view mangled) {
  key_.assign(mangled);
  const auto found = names_.find(key_);
  if (found != names_.end()) return found->second;
  Name& name = names_[key_];
  name.text = demangled(key_);
  return name;
}

}  // namespace nvspan::inject
