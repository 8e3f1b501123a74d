// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "lines/copier.hpp"
#include "lines/pace.hpp"
#include "lines/record_bytes.hpp"
#include "lines/sample_sink.hpp"
#include "lines/stack_names.hpp"
#include "lines/stack_walk.hpp"
#include "lines/thread_list.hpp"
#include "record/file/sample_format.hpp"

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::lines {

// Looks at the Python threads of this process, on a thread of its own between start() and stop().
class Sampler : public core::Immovable {
 public:
  // `period` in ns; 0: by what it costs; -1: it waits until it is asked to sample.
  Sampler(const Interpreter& interpreter, SampleSink& sink, std::int64_t period);
  ~Sampler() = default;

  // Null, or why it cannot sample here. `ident` is the calling thread's, of Python.
  const char* prepare(std::uint64_t ident);
  // The caller's own stack, the innermost frame first; it holds the GIL. False: it cannot be read.
  // `c_function`: where it called this from Python; empty: not known.
  bool look_at_own(std::uint64_t ident, std::vector<SeenFrame>& frames, std::string& c_function);

  bool start() noexcept;
  // Waits for its thread, at most so long in ns. False: it still runs. After pause() a thread's
  // time goes on, after stop() it has ended.
  bool pause(std::int64_t longest) noexcept { return end(Ending::pause, longest); }
  bool stop(std::int64_t longest) noexcept { return end(Ending::stop, longest); }
  // Its thread writes nothing more, and is not waited for: it may run until the process has ended.
  void abandon() noexcept { ask_to_end(Ending::at_once); }
  bool is_running() const noexcept { return running_; }

  // In a forked child, before anything else: what it has is its parent's.
  void forget_parent() noexcept { copier_.forget(); }
  const Pace& pace() const noexcept { return pace_; }
  void go_on_from(const Pace& parent) noexcept { pace_.go_on_from(parent); }
  // As in Pace, before start().
  void go_on_from(std::int64_t period) noexcept { pace_.go_on_from(period); }
  // While it does not run; as in the constructor.
  void set_period(std::int64_t period) noexcept;

 private:
  enum class Ending : std::uint32_t { none, pause, stop, at_once };
  static void* run(void* self) noexcept;
  void ask_to_end(Ending how) noexcept;
  bool end(Ending how, std::int64_t longest) noexcept;
  void wait_until_gone() noexcept;
  void sample_until_stopped();
  void follow_requests();
  void change_pace(std::int64_t period) noexcept;
  void end_samples(bool of_threads);
  bool wait_until(std::int64_t when) noexcept;
  void look();
  void look_at(PythonThread& thread);
  bool read_stack(PythonThread& thread, std::uint64_t& ticks);
  void take(PythonThread& thread, std::uint64_t ticks, record::SampleState state, std::int64_t ran,
            std::int64_t span);
  static unsigned said_part(PythonThread& thread, record::SampleState state, std::int64_t ran,
                            std::int64_t span) noexcept;
  record::SampleState state_of(pid_t tid) noexcept;
  void write();
  std::int64_t counts_period() const noexcept;
  void write_notes(bool is_new);

  struct Taken {
    PythonThread* thread;
    Sample sample;
  };

  Interpreter interpreter_;
  SampleSink& sink_;
  MemoryCopier copier_;
  PythonThreads list_;
  StackWalk walk_;
  StackNames names_;
  RecordBytes records_;
  Pace pace_;
  record::SampleCounts counts_;
  std::vector<PythonThread*> threads_;
  std::vector<Taken> taken_;
  std::vector<std::uint32_t> ended_;
  std::vector<record::SampledThreadDefinition> new_threads_;
  std::uint32_t next_thread_ = 1;
  std::uint64_t chunk_ = 0;
  bool new_period_ = true;
  std::int64_t counts_said_ = 0;  // ns of CLOCK_MONOTONIC
  std::int64_t look_began_ = 0;
  bool samples_unasked_;
  bool samples_;            // else it waits
  std::int64_t asked_ = 0;  // when it looked for a request

  pthread_t thread_ = {};
  bool running_ = false;
  std::atomic<pid_t> tid_{0};
  std::atomic<Ending> ending_{Ending::none};
};

}  // namespace nvspan::lines
