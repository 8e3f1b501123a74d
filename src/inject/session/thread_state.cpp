// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/thread_state.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstring>
#include <string_view>

namespace nvspan::inject {
namespace {

constexpr std::size_t kept_stacks = 64;

}  // namespace

UnfinishedRange UnfinishedRange::keep(const trace::Event& event, std::uint64_t domain,
                                      core::PagePool& pool) {
  UnfinishedRange range;
  range.domain = domain;
  range.ts = event.ts;
  range.pid = event.pid;
  range.color = event.color;
  range.has_color = event.has_color;
  range.nesting = event.nesting;
  range.message_type = event.message_type;
  range.message = event.message;
  const bool borrowed = event.message_type == trace::MessageType::ascii ||
                        event.message_type == trace::MessageType::unicode;
  if (borrowed && !event.message.empty()) {
    auto* copy = static_cast<char*>(pool.allocate(event.message.size()));
    std::memcpy(copy, event.message.data(), event.message.size());
    range.message = std::string_view(copy, event.message.size());
    range.owns_message = true;
  } else if (borrowed && event.message.data() != nullptr) {
    range.message = std::string_view("");
  }
  return range;
}

void UnfinishedRange::release(core::PagePool& pool) noexcept {
  if (owns_message) pool.deallocate(const_cast<char*>(message.data()), message.size());
  owns_message = false;
}

void UnfinishedRange::close(trace::Event& event) const noexcept {
  event.message = message;
  event.message_type = message_type;
  event.open_color = color;
  event.has_open_color = has_color;
  event.duration = event.ts > ts ? static_cast<std::int64_t>(event.ts - ts) : 0;
  event.nesting = nesting;
}

DomainStack& ThreadState::stack(std::uint64_t domain) {
  for (std::size_t i = stacks.size(); i-- > 0;) {
    if (stacks[i].domain == domain) return stacks[i];
  }
  if (stacks.size() >= kept_stacks) {
    for (std::size_t i = stacks.size(); i-- > 0;) {
      if (!stacks[i].ranges.empty()) continue;
      stacks[i] = std::move(stacks.back());
      stacks.pop_back();
    }
  }
  stacks.push_back(DomainStack{domain, core::PoolVector<UnfinishedRange>(pool)});
  return stacks.back();
}

void ThreadState::forget_ranges() noexcept {
  for (DomainStack& stack : stacks) {
    for (UnfinishedRange& range : stack.ranges) range.release(pool);
  }
  stacks.clear();
  nesting = 0;
}

__thread ThreadSlot this_thread_slot __attribute__((tls_model("initial-exec")));

std::size_t system_thread_name(char* name, std::size_t room) noexcept {
  constexpr std::size_t longest = 16;  // TASK_COMM_LEN, with a zero
  if (::syscall(SYS_gettid) == ::getpid()) return 0;
  char own[longest] = {};
  char program[longest] = {};
  if (::prctl(PR_GET_NAME, own) != 0) return 0;
  const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t read = ::read(file, program, sizeof program);
  ::close(file);
  if (read <= 0) return 0;
  program[read - 1] = '\0';  // in place of the line's end
  const std::string_view found(own);
  return found == program ? 0 : found.copy(name, room);
}

}  // namespace nvspan::inject
