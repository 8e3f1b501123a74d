// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/registry/registry.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// Registered strings and categories, for decoded payloads.
class RegisteredNames final : public trace::PayloadNames {
 public:
  explicit RegisteredNames(const Registry& registry) : registry_(registry) {}

  std::string_view string(std::uint64_t, std::uint64_t handle) const override {
    const RegisteredString* found = registry_.string(handle);
    return found == nullptr ? std::string_view() : found->text;
  }
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override {
    return registry_.category_name(domain, number);
  }

 private:
  const Registry& registry_;
};

}  // namespace nvspan::inject
