// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"

#include <pthread.h>

namespace nvspan::cupti {

// A thread that has CUPTI hand over, once a second, what is complete: CUPTI does so only when a
// buffer is full, which takes a program minutes that launches little.
class Flusher : public core::Immovable {
 public:
  Flusher();

  // Signals that are blocked now are blocked on the thread.
  void begin(void (*flush)());
  void end() noexcept;  // waits for it

 private:
  static void* run(void* self);
  bool waits_a_second();

  void (*flush_)() = nullptr;
  pthread_t thread_ = {};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_;  // by the monotonic clock
  bool runs_ = false;
  bool ends_ = false;
};

}  // namespace nvspan::cupti
