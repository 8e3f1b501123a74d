// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/line_samples.hpp"

#include "inject/session/session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <new>
#include <optional>

namespace nvspan::inject {
namespace {

constexpr const char* no_thread = "the system does not let it begin a thread";
constexpr std::int64_t longest_wait = 1'000'000'000;  // ns, for the sampler's thread

class RecordingSink final : public lines::SampleSink {
 public:
  Place open(const lines::NewNames& names,
             const std::vector<record::SampledThreadDefinition>& threads,
             std::size_t bytes) override;
  void close(std::string_view records, std::uint32_t samples) override;
  // Of the file that has what it was given last.
  std::uint64_t file() const noexcept { return file_; }

 private:
  static bool define(record::SampleLane& lane, const lines::NewNames& names,
                     const std::vector<record::SampledThreadDefinition>& threads);

  std::uint64_t file_ = 0;
};

RecordingSink sink;

// What a sampler needs to be made anew in a forked child.
struct Started {
  lines::Interpreter interpreter;
  std::int64_t period;
  pid_t pid;
  lines::Sampler* sampler;  // never freed: its thread may still run when the process ends
};
std::optional<Started> started;

bool RecordingSink::define(record::SampleLane& lane, const lines::NewNames& names,
                           const std::vector<record::SampledThreadDefinition>& threads) {
  bool all = true;
  for (const lines::NewCode& code : names.codes) {
    const record::CodeDefinition definition{code.id, record::no_string, record::no_string,
                                            static_cast<std::uint32_t>(code.first_line)};
    all = all && lane.define(definition, code.file, code.function);
  }
  for (const auto& frame : names.frames) all = all && lane.define(frame);
  for (const auto& stack : names.stacks) all = all && lane.define(stack);
  for (const auto& thread : threads) all = all && lane.define(thread);
  return all;
}

// Signals are blocked in the sampler's thread. It is in a callback meanwhile: what it calls may be
// annotated.
lines::SampleSink::Place RecordingSink::open(
    const lines::NewNames& names, const std::vector<record::SampledThreadDefinition>& threads,
    std::size_t bytes) {
  thread_slot().busy = true;
  session().lock();
  Place place;
  try {
    record::SampleLane* const lane = session().samples();
    file_ = session().recorder().file_number();
    if (lane != nullptr && define(*lane, names, threads)) {
      const record::SampleLane::Room room = lane->make_room(bytes);
      place = Place{room.found, room.is_new, room.base_ticks};
    }
  } catch (...) {
    session().count_lost();  // no memory: the lock is given back all the same
  }
  if (place.taken) return place;
  session().unlock();
  thread_slot().busy = false;
  return place;
}

void RecordingSink::close(std::string_view records, std::uint32_t samples) {
  session().samples()->append(records, samples);
  session().unlock();
  thread_slot().busy = false;
}

// As Python has it.
std::uint64_t own_ident() noexcept { return static_cast<std::uint64_t>(::pthread_self()); }

const char* make(const lines::Interpreter& interpreter, std::int64_t period,
                 lines::Sampler*& sampler) {
  if (interpreter.size != sizeof interpreter) return "its parts are of different builds of nvspan";
  sampler = new (std::nothrow) lines::Sampler(interpreter, sink, period);
  return sampler == nullptr ? "no memory" : sampler->prepare(own_ident());
}

}  // namespace

const char* check_sampler(const lines::Interpreter& interpreter, FrameTaker take, void* context) {
  lines::Sampler* sampler = nullptr;
  const char* problem = make(interpreter, 0, sampler);
  if (problem == nullptr) {
    std::vector<lines::SeenFrame> frames;
    if (!sampler->look_at_own(own_ident(), frames)) problem = "its stack cannot be read";
    for (const lines::SeenFrame& frame : frames) take(context, &frame);
  }
  delete sampler;
  return problem;
}

const char* start_sampler(const lines::Interpreter& interpreter, std::int64_t period) {
  if (started.has_value() && started->sampler->is_running()) return "it samples already";
  if (!session().open_from_environment()) return "nothing is recorded";
  session().meet_thread();
  // It goes on where it stopped: the file has its definitions.
  if (started.has_value() && sink.file() == session().recorder().file_number()) {
    started->sampler->set_period(period);
    return started->sampler->start() ? nullptr : no_thread;
  }
  if (started.has_value()) delete started->sampler;
  started.reset();
  lines::Sampler* sampler = nullptr;
  const char* problem = make(interpreter, period, sampler);
  if (problem == nullptr && !sampler->start()) problem = no_thread;
  if (problem != nullptr) {
    delete sampler;
    return problem;
  }
  started = Started{interpreter, period, ::getpid(), sampler};
  return nullptr;
}

void pause_sampler() noexcept {
  if (started.has_value() && started->pid == ::getpid()) started->sampler->pause(longest_wait);
}

void resume_sampler(bool in_child) noexcept {
  if (!started.has_value() || started->sampler->is_running()) return;
  if (!in_child) {
    started->sampler->start();
    return;
  }
  lines::Sampler* const parent = started->sampler;
  parent->forget_parent();
  lines::Sampler* sampler = nullptr;
  const char* const problem = make(started->interpreter, started->period, sampler);
  if (problem != nullptr) {
    started.reset();
    return;
  }
  sampler->go_on_from(parent->pace());
  delete parent;
  started->sampler = sampler;
  started->pid = ::getpid();
  sampler->start();
}

void abandon_sampler() noexcept {
  if (started.has_value()) started->sampler->abandon();
}

void stop_sampler() noexcept {
  // A child of a fork that Python does not know of has no sampler's thread.
  if (started.has_value() && started->pid == ::getpid()) started->sampler->stop(longest_wait);
}

}  // namespace nvspan::inject
