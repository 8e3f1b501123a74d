// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/collect/poller.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "cuda/collect/collector.hpp"
#include "cuda/context/device_context.hpp"

namespace nvspan::cuda {

namespace {

using namespace std::chrono_literals;

constexpr auto pace_hurried = 50us;
constexpr auto pace_working = 200us;
constexpr auto pace_watching = 10ms;  // the ring holds more than a GPU can write in that time

struct Poller {
  std::mutex mutex;
  std::condition_variable wake;
  bool started = false;   // under the mutex
  bool finished = false;  // under the mutex
  std::atomic<bool> needed{false};
  std::atomic<bool> awake{false};
  std::atomic<bool> stop{false};
  std::atomic<int> hurry{0};
  std::atomic<uint64_t> rounds{0};
  std::atomic<uint64_t> backlog{0};
};

Poller& poller() noexcept {
  static Poller* const instance = new Poller;
  return *instance;
}

Activity poll_contexts(const Driver& api, Poller& self) noexcept {
  Activity most = Activity::none;
  uint64_t backlog = 0;
  const bool hurry = self.hurry.load(std::memory_order_acquire) > 0;
  for (DeviceContext* context : live_contexts()) {
    most = std::max(most, read_context(api, *context, hurry, backlog));
  }
  self.backlog.store(backlog, std::memory_order_release);
  return most;
}

void run() noexcept {
  Poller& self = poller();
  const Driver& api = *driver();
  const RelaxedCapture relaxed(api);
  while (!self.stop.load(std::memory_order_acquire)) {
    Activity activity = poll_contexts(api, self);
    self.rounds.fetch_add(1, std::memory_order_acq_rel);
    std::unique_lock<std::mutex> lock(self.mutex);
    if (activity == Activity::none && self.hurry.load() == 0) {
      self.awake.store(false, std::memory_order_seq_cst);
      lock.unlock();
      activity = poll_contexts(api, self);  // sees all work from before the flag was set
      lock.lock();
      if (activity == Activity::none && self.hurry.load() == 0) {
        self.wake.wait(lock, [&] { return self.awake.load() || self.stop.load(); });
        continue;
      }
      self.awake.store(true);
    }
    if (self.hurry.load() > 0 || activity == Activity::calibrating) {
      self.wake.wait_for(lock, pace_hurried);
    } else if (activity == Activity::watching) {
      // Until a range is placed on a stream only the ring needs reading.
      self.awake.store(false);
      self.wake.wait_for(lock, pace_watching,
                         [&] { return self.awake.load() || self.stop.load(); });
      self.awake.store(true);
    } else {
      self.wake.wait_for(lock, pace_working, [&] { return self.stop.load(); });
    }
  }
  std::lock_guard<std::mutex> lock(self.mutex);
  self.finished = true;
  self.wake.notify_all();
}

// The driver goes away at exit: by then the poller must not be in it, also in a process without
// Python.
void at_process_exit() {
  stop_accepting();
  stop_poller(0.2);
}

void ensure_started(Poller& self) noexcept {
  std::lock_guard<std::mutex> lock(self.mutex);
  if (!self.started && !self.stop.load()) {
    self.started = true;
    std::atexit(at_process_exit);
    std::thread(run).detach();
  }
  self.wake.notify_all();
}

}  // namespace

void wake_poller() noexcept {
  if (annotate::tool_replays_ranges()) return;
  Poller& self = poller();
  if (self.awake.load(std::memory_order_relaxed) || self.awake.exchange(true)) return;
  self.needed.store(true, std::memory_order_release);
  ensure_started(self);
}

void read_in_place() noexcept {
  if (const Driver* api = driver()) poll_contexts(*api, poller());
}

bool poller_needed() noexcept { return poller().needed.load(std::memory_order_acquire); }

uint64_t poller_rounds() noexcept { return poller().rounds.load(std::memory_order_acquire); }

uint64_t poller_backlog() noexcept { return poller().backlog.load(std::memory_order_acquire); }

void hurry_poller(bool on) noexcept {
  Poller& self = poller();
  self.hurry.fetch_add(on ? 1 : -1);
  if (on && self.needed.load()) {
    self.awake.store(true);
    std::lock_guard<std::mutex> lock(self.mutex);
    self.wake.notify_all();
  }
}

void stop_poller(double seconds) noexcept {
  Poller& self = poller();
  self.stop.store(true);
  std::unique_lock<std::mutex> lock(self.mutex);
  self.wake.notify_all();
  if (!self.started) return;
  self.wake.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return self.finished; });
}

}  // namespace nvspan::cuda
