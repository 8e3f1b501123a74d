// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of a device range: two states, each with the one list of its transitions. `Phase` is how
// far the range is for the program and its handle, `SubmitState` how much of it the driver's
// threads have sent to a tool, and its state in a graph.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvspan::cuda {

// A state that any thread may change, but only as the list of transitions has it: an event for
// which the list has no row leaves the state as it is.
template <class State, class ReadyEvent, class Transitions>
class Life {
 public:
  State now() const noexcept { return state_.load(std::memory_order_acquire); }

  // Returns the state before the event. Events of several threads at once are applied in some
  // order: the state that a thread finds decides what it has to do.
  State apply(ReadyEvent event) noexcept {
    State before = state_.load(std::memory_order_relaxed);
    while (!state_.compare_exchange_weak(before, after(before, event), std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
    }
    return before;
  }

  static State after(State state, ReadyEvent event) noexcept {
    static constexpr Table table = make_table();
    return table.next[static_cast<size_t>(state)][static_cast<size_t>(event)];
  }

 private:
  static constexpr size_t states = static_cast<size_t>(State::count);
  static constexpr size_t events = static_cast<size_t>(ReadyEvent::count);
  struct Table {
    State next[states][events];
  };

  static constexpr Table make_table() noexcept {
    Table table{};
    for (size_t state = 0; state < states; ++state) {
      for (State& next : table.next[state]) next = static_cast<State>(state);
    }
    for (const auto& row : Transitions::rows) {
      table.next[static_cast<size_t>(row.from)][static_cast<size_t>(row.event)] = row.to;
    }
    return table;
  }

  std::atomic<State> state_{};
};

template <class State, class ReadyEvent>
struct Transition {
  State from;
  ReadyEvent event;
  State to;
};

enum class Phase : uint8_t {
  open,
  ended,  // by the program, or dropped by it; the GPU has not reached the end
  done,   // the GPU has finished it; of a captured range, its first replay
  lost,   // its end could not be placed, or its context died
  count
};
enum class PhaseEvent : uint8_t { end, finish, lose, count };

struct PhaseTransitions {
  static constexpr Transition<Phase, PhaseEvent> rows[] = {
      {Phase::open, PhaseEvent::end, Phase::ended},
      {Phase::ended, PhaseEvent::finish, Phase::done},
      {Phase::ended, PhaseEvent::lose, Phase::lost},
  };
};

using RangePhase = Life<Phase, PhaseEvent, PhaseTransitions>;

enum class SubmitState : uint8_t {
  waiting,    // neither end was reached
  shown,      // a tool has the start, and waits for the end
  left_out,   // the beginning was reached, and no tool was sent the start
  end_first,  // the end was reached, the beginning was not: each is on a stream of its own
  over,       // both were reached
  given_up,   // the end will never come; a start that was sent has been ended

  // A range in a graph, where it is replayed again and again; see `shown` too.
  capturing,           // its end is not in the graph
  between_replays,     // both ends are in the graph, and none runs
  changing,            // a thread sends a start or an end
  retired,             // the last graph that held it was destroyed: its stamps are read once more
  retired_incomplete,  // as `retired`, and its end never was in the graph
  count
};

enum class SubmitEvent : uint8_t {
  begin_sent,      // the beginning is reached, and a tool has been sent the start
  begin_left_out,  // the beginning is reached, and no tool has been sent the start
  end_reached,
  give_up,

  capture,         // its beginning goes into a graph
  complete_graph,  // its end is in the graph too
  replay_begins,
  replay_sent,  // a tool has been sent the start
  replay_ends,
  replay_over,  // and the next one may begin
  retire,
  count
};

struct SubmitTransitions {
  static constexpr Transition<SubmitState, SubmitEvent> rows[] = {
      {SubmitState::waiting, SubmitEvent::begin_sent, SubmitState::shown},
      {SubmitState::waiting, SubmitEvent::begin_left_out, SubmitState::left_out},
      {SubmitState::waiting, SubmitEvent::end_reached, SubmitState::end_first},
      {SubmitState::waiting, SubmitEvent::give_up, SubmitState::given_up},
      {SubmitState::waiting, SubmitEvent::capture, SubmitState::capturing},

      {SubmitState::shown, SubmitEvent::end_reached, SubmitState::over},
      {SubmitState::shown, SubmitEvent::give_up, SubmitState::given_up},
      {SubmitState::shown, SubmitEvent::replay_ends, SubmitState::changing},

      {SubmitState::left_out, SubmitEvent::end_reached, SubmitState::over},
      {SubmitState::left_out, SubmitEvent::give_up, SubmitState::given_up},

      {SubmitState::end_first, SubmitEvent::begin_sent, SubmitState::over},
      {SubmitState::end_first, SubmitEvent::begin_left_out, SubmitState::over},
      {SubmitState::end_first, SubmitEvent::give_up, SubmitState::given_up},

      {SubmitState::capturing, SubmitEvent::complete_graph, SubmitState::between_replays},
      {SubmitState::capturing, SubmitEvent::give_up, SubmitState::given_up},
      {SubmitState::capturing, SubmitEvent::retire, SubmitState::retired_incomplete},
      {SubmitState::given_up, SubmitEvent::retire, SubmitState::retired_incomplete},

      {SubmitState::between_replays, SubmitEvent::replay_begins, SubmitState::changing},
      {SubmitState::between_replays, SubmitEvent::give_up, SubmitState::given_up},
      {SubmitState::between_replays, SubmitEvent::retire, SubmitState::retired},
      {SubmitState::changing, SubmitEvent::replay_sent, SubmitState::shown},
      {SubmitState::changing, SubmitEvent::replay_over, SubmitState::between_replays},
      {SubmitState::changing, SubmitEvent::give_up, SubmitState::given_up},
  };
};

using RangeSubmit = Life<SubmitState, SubmitEvent, SubmitTransitions>;

// Whether the beginning was sent to a tool, or left out.
constexpr bool begin_was_reached(SubmitState submit) noexcept {
  return submit != SubmitState::waiting && submit != SubmitState::end_first;
}

// Whether both ends of a captured range are in the graph.
constexpr bool is_complete(SubmitState submit) noexcept {
  return submit == SubmitState::between_replays || submit == SubmitState::changing ||
         submit == SubmitState::shown || submit == SubmitState::retired;
}

constexpr bool is_retired(SubmitState submit) noexcept {
  return submit == SubmitState::retired || submit == SubmitState::retired_incomplete;
}

}  // namespace nvspan::cuda
