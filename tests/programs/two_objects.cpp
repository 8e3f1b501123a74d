// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Loads the two plugins named on the command line. Each connects to the tool for itself, and what
// one gets from it means the same in the other and in the program.

#include <nvtx3/nvToolsExt.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Plugin {
  nvtxDomainHandle_t (*domain)();
  nvtxStringHandle_t (*string)();
  int (*push)();
  int (*pop)();
};

Plugin load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto find = [&](const char* name) { return dlsym(library, name); };
  return Plugin{
      reinterpret_cast<nvtxDomainHandle_t (*)()>(find("plugin_domain")),
      reinterpret_cast<nvtxStringHandle_t (*)()>(find("plugin_string")),
      reinterpret_cast<int (*)()>(find("plugin_push")),
      reinterpret_cast<int (*)()>(find("plugin_pop")),
  };
}

}  // namespace

int main(int, char** argv) {
  nvtxRangePushA("main");
  const Plugin a = load(argv[1]);
  const Plugin b = load(argv[2]);
  a.push();
  b.push();
  if (a.domain() == b.domain() || a.string() == b.string()) return 2;
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = a.string();
  nvtxDomainMarkEx(a.domain(), &event);
  a.pop();
  b.pop();
  nvtxRangePop();
}
