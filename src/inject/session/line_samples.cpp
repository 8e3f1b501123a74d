// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/line_samples.hpp"

#include "inject/session/session.hpp"
#include "lines/ancestors.hpp"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nvspan::inject {
namespace {

constexpr const char* no_thread = "the system does not let it start a thread";
constexpr std::int64_t longest_wait = 1'000'000'000;  // ns, for the sampler's thread

class RecordingSink final : public lines::SampleSink {
 public:
  Place open(const lines::NewNames& names,
             const std::vector<record::SampledThreadDefinition>& threads,
             std::size_t bytes) override;
  void close(std::string_view records, std::uint32_t samples) override;
  std::optional<std::int64_t> asked(bool samples) override;
  // Of the file that has what it was given last.
  std::uint64_t file() const noexcept { return file_; }

 private:
  static bool define(record::SampleLane& lane, const lines::NewNames& names,
                     const std::vector<record::SampledThreadDefinition>& threads);

  std::uint64_t file_ = 0;
  record::SampleLane* lane_ = nullptr;  // of the place that is taken
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
  for (const auto& frame : names.frames) {
    all = all && lane.define(frame.definition, frame.c_function);
  }
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
    lane_ = session().samples();
    file_ = session().recorder().file_number();
    if (lane_ != nullptr && define(*lane_, names, threads)) {
      const record::SampleLane::Room room = lane_->make_room(bytes);
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
  lane_->append(records, samples);
  session().unlock();
  thread_slot().busy = false;
}

std::optional<std::int64_t> RecordingSink::asked(bool samples) {
  thread_slot().busy = true;
  session().lock();
  const std::optional<std::int64_t> period = session().recorder().take_lines_request(samples);
  session().unlock();
  thread_slot().busy = false;
  return period;
}

// As Python has it.
std::uint64_t own_ident() noexcept { return static_cast<std::uint64_t>(::pthread_self()); }

// Null where it cannot sample: then `problem` says why.
std::unique_ptr<lines::Sampler> make(const lines::Interpreter& interpreter, std::int64_t period,
                                     const char*& problem) noexcept {
  problem = "its parts are of different builds of nvspan";
  if (interpreter.size != sizeof interpreter) return nullptr;
  try {
    auto sampler = std::make_unique<lines::Sampler>(interpreter, sink, period);
    problem = sampler->prepare(own_ident());
    if (problem == nullptr) return sampler;
  } catch (...) {
    problem = "no memory";
  }
  return nullptr;
}

}  // namespace

const char* check_sampler(const lines::Interpreter& interpreter, FrameTaker take, void* context) {
  const char* problem = nullptr;
  const std::unique_ptr<lines::Sampler> sampler = make(interpreter, 0, problem);
  if (sampler == nullptr) return problem;
  try {
    std::vector<lines::SeenFrame> frames;
    std::string c_function;
    if (!sampler->look_at_own(own_ident(), frames, c_function)) return "its stack cannot be read";
    if (!frames.empty()) frames.front().c_function = c_function.c_str();
    for (const lines::SeenFrame& frame : frames) take(context, &frame);
  } catch (...) {
    return "no memory";
  }
  return nullptr;
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
  const char* problem = nullptr;
  std::unique_ptr<lines::Sampler> sampler = make(interpreter, period, problem);
  if (sampler == nullptr) return problem;
  sampler->go_on_from(lines::period_of_ancestors());
  if (!sampler->start()) return no_thread;
  started = Started{interpreter, period, ::getpid(), sampler.release()};
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
  const std::unique_ptr<lines::Sampler> parent(started->sampler);
  parent->forget_parent();
  const char* problem = nullptr;
  std::unique_ptr<lines::Sampler> sampler = make(started->interpreter, started->period, problem);
  if (sampler == nullptr) {
    started.reset();
    return;
  }
  sampler->go_on_from(parent->pace());
  started->sampler = sampler.release();
  started->pid = ::getpid();
  started->sampler->start();
}

void abandon_sampler() noexcept {
  if (started.has_value()) started->sampler->abandon();
}

void stop_sampler() noexcept {
  // A child of a fork that Python does not know of has no sampler's thread.
  if (started.has_value() && started->pid == ::getpid()) started->sampler->stop(longest_wait);
}

}  // namespace nvspan::inject
