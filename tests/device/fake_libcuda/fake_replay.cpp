// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "fake.hpp"

// What range replay of Nsight Compute refuses while it watches a range, as seen with the real one.

namespace fake {

namespace {
std::atomic<std::thread::id> replaying;  // the thread of the range
}  // namespace

void not_in_a_replay(const char* call) {
  if (replaying.load() == std::this_thread::get_id()) {
    misuse((std::string(call) + " within a range that is replayed").c_str());
  }
  only_in_a_replay(call);
}

void only_in_a_replay(const char* call) {
  const std::thread::id thread = replaying.load();
  if (thread != std::thread::id() && thread != std::this_thread::get_id()) {
    misuse((std::string(call) + " beside a range that is replayed").c_str());
  }
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT void fake_cuda_replay(int within) {
  replaying.store(within ? std::this_thread::get_id() : std::thread::id());
}
