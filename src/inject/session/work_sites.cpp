// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/work_sites.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>

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

bool WorkSites::Shaped::operator==(const Shaped& other) const noexcept {
  return name == other.name && std::memcmp(&shape, &other.shape, sizeof shape) == 0;
}

std::size_t WorkSites::ShapedHash::operator()(const Shaped& key) const noexcept {
  const std::string_view bytes(reinterpret_cast<const char*>(&key.shape), sizeof key.shape);
  return std::hash<std::string_view>()(bytes) ^ std::hash<const void*>()(key.name);
}

WorkSites::Name& WorkSites::name_of(std::string_view mangled) {
  key_.assign(mangled);
  const auto found = names_.find(key_);
  if (found != names_.end()) return found->second;
  Name& name = names_[key_];
  name.text = demangled(key_);
  name.site.text = &name.text;
  return name;
}

WorkSites::Site& WorkSites::find(std::string_view mangled) { return name_of(mangled).site; }

WorkSites::Site& WorkSites::find(std::string_view mangled, const record::LaunchShape& shape) {
  Name& name = name_of(mangled);
  const Shaped key{&name, shape};
  const auto found = shaped_.find(key);
  if (found != shaped_.end()) return found->second;
  if (shaped_.size() >= most_shapes) return name.site;
  const auto added = shaped_.emplace(key, Site{&name.text}).first;
  added->second.shape = &added->first.shape;
  return added->second;
}

void WorkSites::forget_if_many() {
  if (names_.size() <= most_names) return;
  shaped_.clear();
  names_.clear();
}

}  // namespace nvspan::inject
