// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/sampler.hpp"

#include "core/os/clock.hpp"
#include "lines/ancestors.hpp"
#include "record/file/ticks.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nvspan::lines {
namespace {

using record::SampleNote;
using record::SampleState;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t between_requests = second / 4;

std::int64_t now_ns() noexcept { return static_cast<std::int64_t>(core::monotonic_ns()); }

// What a thread has run, in ns; -1: it has ended. By the thread's number, as
// pthread_getcpuclockid() would look into one that may be gone.
std::int64_t cpu_ns(pid_t tid) noexcept {
  constexpr unsigned of_thread = 6;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | of_thread);
  timespec time = {};
  return ::clock_gettime(clock, &time) != 0 ? -1 : time.tv_sec * second + time.tv_nsec;
}

// Linux 6.12 and later give a thread an earlier turn for a shorter slice, without a privilege: a
// sampler that shares a processor with the program otherwise runs when the program waits, and sees
// waits alone.
void ask_for_short_slices() noexcept {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes = {};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000;  // ns
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

Sampler::Sampler(const Interpreter& interpreter, SampleSink& sink, std::int64_t period)
    : interpreter_(interpreter),
      sink_(sink),
      list_(copier_, interpreter_.layout),
      walk_(copier_, interpreter_.layout),
      names_(copier_, interpreter_),
      pace_(std::max<std::int64_t>(period, 0)),
      samples_unasked_(period >= 0),
      samples_(samples_unasked_) {}

const char* Sampler::prepare(std::uint64_t ident) {
  if (!copier_.open()) return "the system does not let it copy its own memory";
  return list_.can_tell_threads(ident) ? nullptr : "the threads' numbers cannot be read";
}

bool Sampler::look_at_own(std::uint64_t ident, std::vector<SeenFrame>& frames,
                          std::string& c_function) {
  const auto tid = static_cast<pid_t>(::syscall(SYS_gettid));
  std::vector<PythonThread*> threads;
  if (!list_.read(threads)) return false;
  for (PythonThread* const thread : threads) {
    if (thread->tid != tid || thread->ident != ident) continue;
    names_.forget_freed(*thread);
    if (walk_.walk(*thread) != StackWalk::Result::whole || !names_.name(*thread, walk_)) continue;
    names_.add_c_function(*thread);
    c_function = names_.c_function();
    frames.clear();
    for (auto named = thread->frames.rbegin(); named != thread->frames.rend(); ++named) {
      names_.describe(named->frame, frames);
    }
    return true;
  }
  return false;
}

bool Sampler::start() noexcept {
  ending_.store(Ending::none);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the program runs on its thread
  running_ = ::pthread_create(&thread_, nullptr, run, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running_;
}

void Sampler::ask_to_end(Ending how) noexcept {
  ending_.store(how);
  ::syscall(SYS_futex, &ending_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Sampler::set_period(std::int64_t period) noexcept {
  samples_ = samples_unasked_ = period >= 0;
  change_pace(std::max<std::int64_t>(period, 0));
}

void Sampler::change_pace(std::int64_t period) noexcept {
  Pace pace(period);
  pace.go_on_from(pace_);
  pace_ = pace;
  new_period_ = true;
}

bool Sampler::end(Ending how, std::int64_t longest) noexcept {
  if (!running_) return true;
  ask_to_end(how);
  timespec until = {};
  ::clock_gettime(CLOCK_REALTIME, &until);
  const std::int64_t at = until.tv_nsec + longest;
  until.tv_sec += at / second;
  until.tv_nsec = at % second;
  running_ = ::pthread_timedjoin_np(thread_, nullptr, &until) != 0;
  if (!running_ && how == Ending::pause) wait_until_gone();
  return !running_;
}

// The system counts a thread for a moment after it has been joined, and CPython 3.12 and later warn
// of a fork where there is more than one.
void Sampler::wait_until_gone() noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d", static_cast<int>(tid_.load()));
  constexpr int most = 200;
  for (int look = 0; look < most && ::access(path, F_OK) == 0; ++look) {
    const timespec pause = {0, 50'000};
    ::nanosleep(&pause, nullptr);
  }
}

void* Sampler::run(void* self) noexcept {
  name_sampler_thread();
  ::prctl(PR_SET_TIMERSLACK, 1000UL);
  ask_for_short_slices();
  auto* const sampler = static_cast<Sampler*>(self);
  sampler->tid_.store(static_cast<pid_t>(::syscall(SYS_gettid)));
  try {
    sampler->sample_until_stopped();
  } catch (...) {
    return nullptr;  // no memory: what has been written stays
  }
  return nullptr;
}

// False: it was stopped.
bool Sampler::wait_until(std::int64_t when) noexcept {
  const timespec time = {when / second, when % second};
  if (ending_.load() == Ending::none) {
    ::syscall(SYS_futex, &ending_, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &time, nullptr,
              FUTEX_BITSET_MATCH_ANY);
  }
  return ending_.load() == Ending::none;
}

void Sampler::sample_until_stopped() {
  std::int64_t due = now_ns();
  std::uint64_t random = static_cast<std::uint64_t>(due) | 1;
  bool goes_on = true;
  std::int64_t named_period = 0;
  while (goes_on) {
    follow_requests();
    if (!samples_) {
      due = now_ns();
      goes_on = wait_until(due + between_requests);
      continue;
    }
    const std::int64_t period = pace_.period();
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    // Never at one distance, which a periodic program could keep step with; distances that differ
    // by less take fewer bytes.
    const std::int64_t spread = period / 3;
    const auto jitter = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(spread));
    due += period + jitter - spread / 2;
    goes_on = wait_until(due);
    look();
    if (look_began_ > due + period) due = look_began_;  // late: what was missed is not caught up
    const auto cpu = static_cast<std::int64_t>(core::clock_ns(CLOCK_THREAD_CPUTIME_ID));
    counts_.cpu_us = static_cast<std::uint64_t>(cpu / 1000);
    if (pace_.look_done(cpu, look_began_)) new_period_ = true;
    if (!pace_.is_settled() || pace_.period() == named_period) continue;
    named_period = pace_.period();
    name_sampler_thread(named_period);
  }
  if (samples_) end_samples(ending_.load() == Ending::stop);
}

// `of_threads`: their time ends as well.
void Sampler::end_samples(bool of_threads) {
  counts_said_ = 0;
  taken_.clear();
  ended_.clear();
  if (of_threads) list_.end_all(ended_);
  write();
}

void Sampler::follow_requests() {
  const std::int64_t now = now_ns();
  if (now - asked_ < between_requests) return;
  asked_ = now;
  const std::optional<std::int64_t> period = sink_.asked(samples_);
  if (!period.has_value()) return;
  if (*period >= 0) {
    change_pace(*period);
    samples_ = true;
  } else if (samples_ != samples_unasked_) {
    end_samples(true);
    samples_ = false;
  }
}

void Sampler::look() {
  look_began_ = now_ns();
  ++counts_.looks;
  taken_.clear();
  bool whole = false;
  for (int attempt = 0; attempt < 3 && !whole; ++attempt) whole = list_.read(threads_);
  ended_.clear();
  if (whole) {
    list_.take_ended(ended_);
  } else {
    ++counts_.unlisted;
  }
  const std::uint32_t turns = pace_.turns();
  for (PythonThread* const thread : threads_) {
    if (thread->turn % turns == counts_.looks % turns) look_at(*thread);
  }
  write();
}

void Sampler::look_at(PythonThread& thread) {
  const std::int64_t cpu = cpu_ns(thread.tid);
  const std::int64_t now = now_ns();
  if (cpu < 0) {  // the system's thread has ended
    thread.id = PythonThread::no_id;
    return;
  }
  const std::int64_t ran = thread.cpu < 0 ? 0 : cpu - thread.cpu;
  const std::int64_t span = thread.last != 0 ? now - thread.last : pace_.thread_period();
  std::uint64_t ticks = record::ticks_now();
  SampleState state = thread.now;
  if (thread.valid && thread.cpu == cpu) {  // it has not run, so nothing moved
    if (state == SampleState::running) state = state_of(thread.tid);
    ++counts_.samples;
    thread.last = now;
    if (state == thread.now && thread.said.chunk == chunk_) {
      ++thread.still_looks;
      thread.still_ticks = ticks;
      return;
    }
  } else {
    if (!read_stack(thread, ticks)) return;
    // Blocked before, and hardly ran: blocked again, as in a wait with a time-out. Else the kernel
    // is asked, which costs more than all the rest.
    constexpr std::int64_t hardly = 100'000;  // ns
    if (cpu_ns(thread.tid) > cpu) {
      state = SampleState::running;
    } else if (state != SampleState::waiting || ran >= hardly || thread.last == 0) {
      state = state_of(thread.tid);
    }
    ++counts_.samples;
    thread.last = now;
  }
  thread.cpu = cpu;
  if (thread.cut) ++counts_.cut;
  take(thread, ticks, state, ran, span);
}

bool Sampler::read_stack(PythonThread& thread, std::uint64_t& ticks) {
  names_.forget_freed(thread);
  const StackWalk::Result result = walk_.walk(thread);
  ticks = walk_.ticks();
  thread.valid = result == StackWalk::Result::whole;
  if (result == StackWalk::Result::empty) {
    thread.last = 0;
    return false;
  }
  if (!thread.valid) {
    ++counts_.torn;
    return false;
  }
  const bool named = names_.name(thread, walk_);
  if (named) names_.add_c_function(thread);
  if (named && !names_.is_doubtful(thread)) return true;
  thread.valid = false;
  thread.frames.clear();
  ++counts_.unnamed;
  return false;
}

// A part of the time that is hardly more or less than what the state says costs a byte, and is left
// to the next record.
unsigned Sampler::said_part(PythonThread& thread, SampleState state, std::int64_t ran,
                            std::int64_t span) noexcept {
  constexpr std::int64_t all = record::sample_whole;
  constexpr std::int64_t hardly = 8;  // an eighth
  if (span <= 0) return state == SampleState::running ? record::sample_whole : 0;
  const std::int64_t owed = thread.owed + ran;
  const std::int64_t expected = state == SampleState::running ? span : 0;
  std::int64_t part = state == SampleState::running ? all : 0;
  if (std::abs(owed - expected) > span / hardly) {
    part = std::clamp((owed * all + span / 2) / span, std::int64_t{0}, all);
  }
  thread.owed = std::clamp(owed - part * span / all, -span, span);
  return static_cast<unsigned>(part);
}

void Sampler::take(PythonThread& thread, std::uint64_t ticks, SampleState state, std::int64_t ran,
                   std::int64_t span) {
  if (thread.number == 0) {
    thread.number = next_thread_++;
    new_threads_.push_back({thread.number, static_cast<std::uint32_t>(thread.tid), ticks});
  }
  const unsigned part = said_part(thread, state, ran, span);
  taken_.push_back(Taken{&thread, Sample{ticks, thread.number, thread.stack, state, part,
                                         thread.still_looks, thread.still_ticks}});
  thread.now = state;
}

// Also of a thread that waits for a processor.
SampleState Sampler::state_of(pid_t tid) noexcept {
  char path[64];
  char text[128];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(tid));
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SampleState::waiting;
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  ::close(fd);
  if (size <= 0) return SampleState::waiting;
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  const bool runs = name_end != nullptr && name_end[1] != '\0' && name_end[2] == 'R';
  return runs ? SampleState::ready : SampleState::waiting;
}

// A short run, whose end the sampler may not see, has some too.
std::int64_t Sampler::counts_period() const noexcept {
  return counts_.looks < Pace::first_looks ? second / 10 : second;
}

void Sampler::write_notes(bool is_new) {
  const std::uint64_t ticks = record::ticks_now();
  for (const std::uint32_t number : ended_) {
    const std::uint64_t ended = number;
    records_.note(ticks, SampleNote::ended, &ended, 1);
  }
  if (is_new || new_period_) {
    const auto period = static_cast<std::uint64_t>(pace_.thread_period() / 1000);
    records_.note(ticks, SampleNote::period, &period, 1);
    new_period_ = false;
  }
  if (is_new || look_began_ - counts_said_ >= counts_period()) {
    std::uint64_t numbers[record::sample_counts];
    std::memcpy(numbers, &counts_, sizeof counts_);
    records_.note(ticks, SampleNote::counts, numbers, record::sample_counts);
    counts_said_ = look_began_;
  }
}

void Sampler::write() {
  const bool says_counts = look_began_ - counts_said_ >= counts_period();
  if (taken_.empty() && ended_.empty() && !new_period_ && !says_counts) return;
  const std::size_t most =
      taken_.size() * RecordBytes::most_of_sample + (ended_.size() + 2) * RecordBytes::most_of_note;
  records_.reserve(most);  // nothing may fail while the place is taken
  const SampleSink::Place place = sink_.open(names_.added(), new_threads_, most);
  if (!place.taken) return;
  if (ending_.load() == Ending::at_once) return sink_.close({}, 0);
  names_.added().clear();
  new_threads_.clear();
  if (place.is_new) ++chunk_;
  records_.begin(chunk_, place.base_ticks, place.is_new);
  if (place.is_new) write_notes(true);
  for (const Taken& taken : taken_) {
    records_.sample(taken.sample, taken.thread->said);
    taken.thread->still_looks = 0;
  }
  if (!place.is_new) write_notes(false);
  sink_.close(records_.bytes(), static_cast<std::uint32_t>(taken_.size()));
}

}  // namespace nvspan::lines
