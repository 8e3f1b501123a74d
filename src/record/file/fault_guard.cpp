// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/fault_guard.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace nvspan::record {

const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

namespace {

constexpr std::size_t list_bytes = 4096;

// Entries are used again and never unmapped: a handler may be reading any of them.
struct Mapping {
  std::atomic<std::uintptr_t> start{0};
  std::atomic<std::uintptr_t> end{0};  // 0: the entry is free
};
struct MappingPage {
  static constexpr std::size_t count = (list_bytes - sizeof(void*)) / sizeof(Mapping);
  Mapping entries[count];
  MappingPage* next = nullptr;
};
static_assert(sizeof(MappingPage) <= list_bytes);

std::atomic<MappingPage*> mappings{nullptr};
std::atomic<bool> seen{false};

// Two handlers of a program may each keep the other as its predecessor only if they differ. So each
// installation in front of another handler uses a different function, with the action it replaced.
constexpr std::size_t most_places = 8;
struct Place {
  struct sigaction before = {};
  bool used = false;
};
Place places[most_places];

bool replace_missing(std::uintptr_t address) noexcept {
  for (MappingPage* at = mappings.load(std::memory_order_acquire); at != nullptr; at = at->next) {
    for (Mapping& entry : at->entries) {
      const std::uintptr_t end = entry.end.load(std::memory_order_acquire);
      if (end == 0 || address < entry.start.load(std::memory_order_relaxed) || address >= end) {
        continue;
      }
      // The rest of the file's mapping from here on lies past its new end.
      const std::uintptr_t first = address & ~(page - 1);
      auto* const start = reinterpret_cast<void*>(first);
      if (::mmap(start, end - first, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
        return false;
      }
      ::madvise(start, end - first, MADV_DONTFORK);
      seen.store(true, std::memory_order_release);
      return true;
    }
  }
  return false;
}

// As the kernel would have done it: the signal mask, the stack and the flags are those of the
// handler that was there before, for ours was installed with them.
void hand_on(const struct sigaction& before, int number, siginfo_t* info, void* context) noexcept {
  const bool faulted = info->si_code > 0 && info->si_code <= BUS_MCEERR_AR;
  const bool ignored = before.sa_handler == SIG_IGN;
  if (ignored && !faulted) return;
  if (ignored || before.sa_handler == SIG_DFL) {
    ::sigaction(number, &before, nullptr);
    // The instruction that faulted is repeated and faults again; a signal that was sent does not
    // come again.
    if (!faulted) {
      ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), number, info);
    }
    return;
  }
  if ((before.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction none = {};
    none.sa_handler = SIG_DFL;
    ::sigaction(number, &none, nullptr);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else {
    before.sa_handler(number);
  }
}

template <std::size_t Index>
void on_fault(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool fault =
      info->si_code == BUS_ADRERR || info->si_code == BUS_OBJERR || info->si_code == BUS_MCEERR_AR;
  if (fault && replace_missing(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    errno = saved;
    return;
  }
  errno = saved;
  hand_on(places[Index].before, number, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);

template <std::size_t... Index>
Handler handler_at(std::size_t place, std::index_sequence<Index...>) noexcept {
  constexpr Handler all[] = {on_fault<Index>...};
  return all[place];
}
Handler handler_at(std::size_t place) noexcept {
  return handler_at(place, std::make_index_sequence<most_places>());
}

// most_places: the action is not nvspan's.
std::size_t place_of(const struct sigaction& action) noexcept {
  std::size_t place = 0;
  while (place < most_places &&
         ((action.sa_flags & SA_SIGINFO) == 0 || action.sa_sigaction != handler_at(place))) {
    ++place;
  }
  return place;
}

bool same_action(const struct sigaction& a, const struct sigaction& b) noexcept {
  constexpr int flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART | SA_RESETHAND;
  return a.sa_handler == b.sa_handler && (a.sa_flags & flags) == (b.sa_flags & flags) &&
         std::memcmp(&a.sa_mask, &b.sa_mask, sizeof a.sa_mask) == 0;
}

}  // namespace

void guard_faults() noexcept {
  struct sigaction now = {};
  if (::sigaction(SIGBUS, nullptr, &now) != 0 || place_of(now) != most_places) return;
  std::size_t place = 0;
  while (place < most_places && places[place].used && !same_action(places[place].before, now)) {
    ++place;
  }
  if (place == most_places) return;
  places[place].before = now;
  places[place].used = true;
  struct sigaction ours = {};
  ours.sa_sigaction = handler_at(place);
  ours.sa_mask = now.sa_mask;
  ours.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART));
  const bool handled = now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
  if (!handled) ours.sa_flags |= SA_ONSTACK | SA_RESTART;
  ::sigaction(SIGBUS, &ours, nullptr);
}

void unguard_faults() noexcept {
  struct sigaction now = {};
  if (::sigaction(SIGBUS, nullptr, &now) != 0) return;
  const std::size_t place = place_of(now);
  if (place == most_places) return;
  ::sigaction(SIGBUS, &places[place].before, nullptr);
}

bool guard_mapping(void* start, std::size_t bytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  for (MappingPage* at = mappings.load(std::memory_order_relaxed);; at = at->next) {
    if (at == nullptr) {
      void* memory =
          ::mmap(nullptr, list_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return false;
#ifdef MADV_WIPEONFORK
      ::madvise(memory, list_bytes, MADV_WIPEONFORK);
#endif
      at = new (memory) MappingPage;
      at->next = mappings.load(std::memory_order_relaxed);
      mappings.store(at, std::memory_order_release);
    }
    for (Mapping& entry : at->entries) {
      if (entry.end.load(std::memory_order_relaxed) != 0) continue;
      entry.start.store(first, std::memory_order_relaxed);
      entry.end.store(first + bytes, std::memory_order_release);
      return true;
    }
  }
}

void forget_mapping(const void* start) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  for (MappingPage* at = mappings.load(std::memory_order_relaxed); at != nullptr; at = at->next) {
    for (Mapping& entry : at->entries) {
      if (entry.end.load(std::memory_order_relaxed) == 0 ||
          entry.start.load(std::memory_order_relaxed) != first) {
        continue;
      }
      entry.end.store(0, std::memory_order_release);
      return;
    }
  }
}

void forget_all_mappings() noexcept {
  for (MappingPage* at = mappings.load(std::memory_order_relaxed); at != nullptr; at = at->next) {
    for (Mapping& entry : at->entries) entry.end.store(0, std::memory_order_release);
  }
}

bool fault_seen() noexcept { return seen.load(std::memory_order_acquire); }
void clear_fault() noexcept { seen.store(false, std::memory_order_release); }

}  // namespace nvspan::record
