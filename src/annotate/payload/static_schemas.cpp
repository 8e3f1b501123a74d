// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/payload/static_schemas.hpp"

namespace nvspan::annotate {

StaticSchemas::Known StaticSchemas::find(const ToolTable& tool, uint64_t epoch,
                                         const Domain& domain, DeferredPayload payload) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  Ids& known = of_domain_[&domain];
  if (epoch < known.epoch) return {epoch, &domain, payload, 0};  // of a tool that has gone
  if (epoch > known.epoch) {
    known = Ids{};
    known.epoch = epoch;
  }
  const auto index = static_cast<size_t>(payload);
  if (!known.asked[index]) {
    known.asked[index] = true;
    known.ids[index] = register_(tool, domain.handle(), payload);
  }
  return {epoch, &domain, payload, known.ids[index]};
}

}  // namespace nvspan::annotate
