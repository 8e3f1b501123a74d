// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/flusher.hpp"

#include <ctime>

namespace nvspan::cupti {

Flusher::Flusher() {
  pthread_condattr_t attributes;
  ::pthread_condattr_init(&attributes);
  ::pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  ::pthread_cond_init(&changed_, &attributes);
  ::pthread_condattr_destroy(&attributes);
}

void Flusher::begin(void (*flush)()) {
  if (runs_) return;
  flush_ = flush;
  ends_ = false;
  runs_ = ::pthread_create(&thread_, nullptr, run, this) == 0;
  if (runs_) ::pthread_setname_np(thread_, "nvspan-kernels");
}

void Flusher::end() noexcept {
  if (!runs_) return;
  ::pthread_mutex_lock(&mutex_);
  ends_ = true;
  ::pthread_cond_signal(&changed_);
  ::pthread_mutex_unlock(&mutex_);
  ::pthread_join(thread_, nullptr);
  runs_ = false;
}

// False: it is to end.
bool Flusher::waits_a_second() {
  timespec until = {};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  ++until.tv_sec;
  ::pthread_mutex_lock(&mutex_);
  while (!ends_ && ::pthread_cond_timedwait(&changed_, &mutex_, &until) == 0) {
  }
  const bool goes_on = !ends_;
  ::pthread_mutex_unlock(&mutex_);
  return goes_on;
}

void* Flusher::run(void* self) {
  auto& flusher = *static_cast<Flusher*>(self);
  while (flusher.waits_a_second()) flusher.flush_();
  return nullptr;
}

}  // namespace nvspan::cupti
