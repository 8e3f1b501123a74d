// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// The life of one device range, as the lists in cuda/model/range_life.hpp have it: the driver calls
// host functions in either order, and a range may be given up in between. No GPU and no driver
// takes part. Made to run under the sanitizers:
//   device_range_lifecycle_test PATH_OF_libnvspan_inject.so

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "annotate/event/event.hpp"
#include "annotate/tool/attachment.hpp"
#include "cuda/device_ranges.hpp"
#include "cuda/stamps/stamps.hpp"
#include "expect.hpp"

using nvspan::annotate::Domain;
using nvspan::annotate::ReadyEvent;
namespace cuda = nvspan::cuda;
using cuda::DeviceRange;
using cuda::Outcome;
using cuda::Phase;
using cuda::PhaseEvent;
using cuda::SubmitEvent;
using cuda::SubmitState;

using nvspan_test::expect;
using nvspan_test::failures;

namespace {

// What a tool saw and what was counted.
struct Told {
  int starts = 0;
  int ends = 0;
  uint64_t sent = 0;
  uint64_t tool_gone = 0;
  uint64_t ambiguous = 0;

  bool operator==(const Told& other) const {
    return starts == other.starts && ends == other.ends && sent == other.sent &&
           tool_gone == other.tool_gone && ambiguous == other.ambiguous;
  }
  std::string text() const {
    return std::to_string(starts) + " starts, " + std::to_string(ends) + " ends, " +
           std::to_string(sent) + " sent, " + std::to_string(tool_gone) + " of another tool, " +
           std::to_string(ambiguous) + " ambiguous";
  }
};

class Lives {
 public:
  Lives(std::string library, std::string file)
      : library_(std::move(library)), file_(std::move(file)), domain_(domain()) {
    stream_.context = &context_;
    event_.domain = &domain_;
    event_.set_text("work", 4);
  }

  // Runs `life` of a range that begins and ends on a stream, or in a graph.
  void expect_told(const std::string& what, const Told& wanted,
                   const std::function<void(DeviceRange&)>& life, bool captured = false,
                   int times = 1) {
    const Told told = told_of(life, captured, times);
    expect(told == wanted, what + ": " + told.text());
  }

  // Runs as many lives, `shown` of which the tool saw: their starts have ends, nothing is counted.
  void expect_whole(const std::string& what, int times,
                    const std::function<void(DeviceRange&)>& life, const int& shown) {
    const Told told = told_of(life, false, times);
    expect(told == Told{shown, shown, 0, 0, 0}, what + ": " + told.text());
  }

 private:
  static Domain& domain() {
    static const std::string name = "lives";
    return Domain::get(&name);
  }

  static Told counted() {
    const cuda::OutcomeCounts& counts = cuda::outcome_counts();
    return {0, 0, counts.get(Outcome::sent_callback), counts.get(Outcome::tool_gone),
            counts.get(Outcome::ambiguous)};
  }

  Told told_of(const std::function<void(DeviceRange&)>& life, bool captured, int times) {
    std::remove(file_.c_str());
    expect(nvspan::annotate::attach_tool(library_, "format=jsonl;file=" + file_).empty(), "attach");
    const Told before = counted();
    for (int i = 0; i < times; ++i) live(life, captured);
    nvspan::annotate::detach_tool();
    Told told = counted();
    told.sent -= before.sent;
    told.tool_gone -= before.tool_gone;
    told.ambiguous -= before.ambiguous;
    std::ifstream lines(file_);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("\"kind\": \"start\"") != std::string::npos) ++told.starts;
      if (line.find("\"kind\": \"end\"") != std::string::npos) ++told.ends;
    }
    std::remove(file_.c_str());
    return told;
  }

  void live(const std::function<void(DeviceRange&)>& life, bool captured) {
    nvspan::annotate::Outgoing out;
    if (!nvspan::annotate::prepare(event_, *nvspan::annotate::listening_tool(), out)) {
      return expect(false, "the tool listens");
    }
    DeviceRange* range = cuda::new_range();
    range->domain = &domain_;
    range->event.domain = &domain_;
    range->event.attributes = event_.attributes;
    range->event.set_text("work", 4);
    range->attributes = out.attributes;
    range->epoch = out.epoch;
    range->captured = captured;
    if (captured) range->submit.apply(SubmitEvent::capture);
    range->phase.apply(PhaseEvent::end);  // before the GPU can reach the end
    if (!captured) {
      stream_.pins.store(2);
      stream_.callbacks.store(2);
      stream_.ending.store(1);
      range->begin_stream = &stream_;
      range->end_stream = &stream_;
      cuda::retain(range);  // of each host function
      cuda::retain(range);
    }
    life(*range);
    if (!captured) {
      expect(stream_.callbacks.load() == 0, "no host function is in flight");
      expect(range->references.load() == 1, "what was in flight has let the range go");
    }
    cuda::release(range);
    if (!captured) expect(stream_.pins.load() == 0, "the stream is let go");
  }

  const std::string library_;
  const std::string file_;
  Domain& domain_;
  ReadyEvent event_;
  cuda::DeviceContext context_{nullptr, 1, 0, false};
  cuda::SideStream stream_;
};

void on_a_stream(Lives& lives) {
  lives.expect_told("it begins and ends", {1, 1, 1, 0, 0}, [](DeviceRange& range) {
    cuda::begin_on_host(&range);
    expect(range.phase.now() == Phase::ended, "the GPU has not reached its end");
    cuda::end_on_host(&range);
    expect(range.phase.now() == Phase::done, "done");
  });
  lives.expect_told("its end comes first", {1, 1, 1, 0, 0}, [](DeviceRange& range) {
    cuda::end_on_host(&range);
    cuda::begin_on_host(&range);
  });
  lives.expect_told("given up before it begins", {0, 0, 0, 0, 0}, [](DeviceRange& range) {
    cuda::cancel(range);
    cuda::begin_on_host(&range);
    cuda::end_on_host(&range);
  });
  lives.expect_told("given up while it runs", {1, 1, 0, 0, 0}, [](DeviceRange& range) {
    cuda::begin_on_host(&range);
    cuda::cancel(range);
    cuda::end_on_host(&range);
  });
  lives.expect_told("counted as lost with its context", {1, 1, 0, 0, 0}, [](DeviceRange& range) {
    cuda::begin_on_host(&range);
    range.end_stream->ending.store(0);
    cuda::end_on_host(&range);
  });
  lives.expect_told("of a tool that has gone", {0, 0, 0, 1, 0}, [](DeviceRange& range) {
    --range.epoch;
    cuda::begin_on_host(&range);
    cuda::end_on_host(&range);
  });
  lives.expect_told("the tool goes while it runs", {1, 0, 0, 1, 0}, [](DeviceRange& range) {
    cuda::begin_on_host(&range);
    --range.epoch;
    --range.span.epoch;
    cuda::end_on_host(&range);
  });
}

void both_ends_at_once(Lives& lives) {
  constexpr int times = 300;
  lives.expect_told(
      "its ends come at once", {times, times, times, 0, 0},
      [](DeviceRange& range) {
        std::atomic<bool> go{false};
        std::thread other([&] {
          while (!go.load()) {
          }
          cuda::end_on_host(&range);
        });
        go.store(true);
        cuda::begin_on_host(&range);
        other.join();
      },
      false, times);
}

// Whatever comes first: a start is ended once, and a range that is given up counts for nothing.
void given_up_at_any_time(Lives& lives) {
  using Step = void (*)(DeviceRange&);
  const Step begin = [](DeviceRange& range) { cuda::begin_on_host(&range); };
  const Step end = [](DeviceRange& range) { cuda::end_on_host(&range); };
  const Step give_up = [](DeviceRange& range) { cuda::cancel(range); };
  const struct {
    const char* name;
    Step steps[3];
    Told told;
  } orders[] = {
      {"begin, end, give up", {begin, end, give_up}, {1, 1, 1, 0, 0}},
      {"begin, give up, end", {begin, give_up, end}, {1, 1, 0, 0, 0}},
      {"end, begin, give up", {end, begin, give_up}, {1, 1, 1, 0, 0}},
      {"end, give up, begin", {end, give_up, begin}, {0, 0, 0, 0, 0}},
      {"give up, begin, end", {give_up, begin, end}, {0, 0, 0, 0, 0}},
      {"give up, end, begin", {give_up, end, begin}, {0, 0, 0, 0, 0}},
  };
  for (const auto& order : orders) {
    lives.expect_told(order.name, order.told, [&](DeviceRange& range) {
      for (const Step step : order.steps) step(range);
    });
  }
}

// Either the range is given up first, and the tool sees nothing of it, or it sees both ends.
void given_up_while_it_begins(Lives& lives) {
  constexpr int times = 100;
  int round = 0;
  int shown = 0;
  lives.expect_whole(
      "given up while it begins", times,
      [&](DeviceRange& range) {
        // Delays that differ, to meet every moment of the beginning.
        const std::chrono::nanoseconds delay(50 * (round++ % 100));
        std::atomic<bool> ready{false};
        std::atomic<bool> go{false};
        std::thread other([&] {
          ready.store(true);
          while (!go.load()) {
          }
          const auto until = std::chrono::steady_clock::now() + delay;
          while (std::chrono::steady_clock::now() < until) {
          }
          cuda::cancel(range);
        });
        while (!ready.load()) {
        }
        go.store(true);
        cuda::begin_on_host(&range);
        other.join();
        expect(range.submit.now() == SubmitState::given_up, "given up");
        if (range.span.epoch != 0) ++shown;
        cuda::end_on_host(&range);
      },
      shown);
}

// The graph holds the range, and takes it back: its end is in the graph or not.
void of_a_graph(const char* what, bool complete, bool cancelled, SubmitState last) {
  cuda::RangeSubmit submit;
  submit.apply(SubmitEvent::capture);
  expect(!cuda::is_complete(submit.now()), what);
  if (complete) submit.apply(SubmitEvent::complete_graph);
  expect(cuda::is_complete(submit.now()) == complete, what);
  if (cancelled) submit.apply(SubmitEvent::give_up);
  expect(!cuda::is_retired(submit.now()), what);
  submit.apply(SubmitEvent::retire);
  expect(submit.now() == last && cuda::is_retired(last), what);
  expect(cuda::is_complete(last) == (complete && !cancelled), what);
}

void what_the_handle_sees() {
  cuda::RangePhase phase;
  expect(phase.apply(PhaseEvent::lose) == Phase::open && phase.now() == Phase::open,
         "a range that is not ended is not lost");
  expect(phase.apply(PhaseEvent::end) == Phase::open, "the first end counts");
  expect(phase.apply(PhaseEvent::end) == Phase::ended, "a second one does nothing");
  phase.apply(PhaseEvent::finish);
  expect(phase.apply(PhaseEvent::lose) == Phase::done && phase.now() == Phase::done,
         "what is done stays so");
}

void in_a_graph(Lives& lives) {
  const auto replay = [](DeviceRange& range) {
    cuda::begin_replay_on_host(&range);
    cuda::end_replay_on_host(&range);
  };
  lives.expect_told(
      "a graph without its end", {0, 0, 0, 0, 0}, [&](DeviceRange& range) { replay(range); }, true);
  lives.expect_told(
      "two replays", {2, 2, 2, 0, 0},
      [&](DeviceRange& range) {
        range.submit.apply(SubmitEvent::complete_graph);
        replay(range);
        replay(range);
        expect(range.phase.now() == Phase::done, "done after a replay");
      },
      true);
  lives.expect_told(
      "two replays at once", {1, 1, 1, 0, 1},
      [&](DeviceRange& range) {
        range.submit.apply(SubmitEvent::complete_graph);
        cuda::begin_replay_on_host(&range);
        cuda::begin_replay_on_host(&range);
        cuda::end_replay_on_host(&range);
        cuda::end_replay_on_host(&range);
      },
      true);
  lives.expect_told(
      "given up while a replay runs", {1, 1, 0, 0, 0},
      [&](DeviceRange& range) {
        range.submit.apply(SubmitEvent::complete_graph);
        cuda::begin_replay_on_host(&range);
        cuda::cancel(range);
        cuda::end_replay_on_host(&range);
      },
      true);
  lives.expect_told(
      "the graph lets it go", {0, 0, 0, 0, 0},
      [&](DeviceRange& range) {
        cuda::retain(&range);
        cuda::retire(&range);
        expect(cuda::is_retired(range.submit.now()) && range.references.load() == 1, "retired");
      },
      true);
}

}  // namespace

int main(int count, char** values) {
  if (count != 2) return 2;
  unsetenv("NVTX_INJECTION64_PATH");
  const std::string file = "device_range_lifecycle_test." + std::to_string(getpid()) + ".jsonl";
  Lives lives(values[1], file);
  on_a_stream(lives);
  given_up_at_any_time(lives);
  both_ends_at_once(lives);
  given_up_while_it_begins(lives);
  in_a_graph(lives);
  of_a_graph("a whole range", true, false, SubmitState::retired);
  of_a_graph("a range without its end", false, false, SubmitState::retired_incomplete);
  of_a_graph("a range that is given up", false, true, SubmitState::retired_incomplete);
  what_the_handle_sees();
  if (failures() == 0) std::puts("device_range_lifecycle_test: passed");
  return failures() == 0 ? 0 : 1;
}
