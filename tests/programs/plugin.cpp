// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A shared object with an NVTX of its own. It initialises NVTX in a static constructor, while the
// loader is at work, or, with PLUGIN_QUIET, when it is first called.

#include "events.hpp"

#include <string>

namespace {

#ifndef PLUGIN_QUIET
struct AtLoad {
  AtLoad() { nvtxMarkA(PLUGIN_NAME ": loaded"); }
} at_load;
#endif

nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t made = nvtxDomainCreateA("shared name");
  return made;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) nvtxDomainHandle_t plugin_domain() {
  return domain();
}

extern "C" __attribute__((visibility("default"))) nvtxStringHandle_t plugin_string() {
  return nvtxDomainRegisterStringA(domain(), PLUGIN_NAME);
}

extern "C" __attribute__((visibility("default"))) int plugin_push() {
  const nvtxEventAttributes_t event = named(plugin_string());
  return nvtxDomainRangePushEx(domain(), &event);
}

extern "C" __attribute__((visibility("default"))) int plugin_pop() {
  return nvtxDomainRangePop(domain());
}
