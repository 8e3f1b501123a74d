// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which of several open requests a range belongs to, where threads do not say it.
//
// A task that begins a range was resumed just now: of the requests that enclose the range it is the
// one whose latest event (its start, the end of its latest inner range) is the latest. A name that
// occurs once a request or less is not given to one request twice. The answer is doubtful where
// another one's latest event is not four times as long ago.

#pragma once

#include "reader/loops/loop_steps.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace nvspan::reader {

class OpenRequests {
 public:
  enum class Lanes : std::uint8_t {
    one,      // a request may have ranges of any thread
    threads,  // of its own
  };
  OpenRequests(const LoopSteps& requests, Lanes lanes, std::size_t threads);

  struct Entered {
    std::int64_t start, end;
    std::uint32_t lane;
    std::uint32_t group;
    bool is_once;  // the name occurs at most once a request
  };
  struct Owner {
    std::uint32_t request;  // Owners::none
    bool is_doubtful;
  };
  // They come by their starts.
  Owner enter(const Entered& range);

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  struct Request {
    std::int64_t latest = 0;
    std::uint32_t before = none, after = none;  // of the lane, by their latest events
    bool is_open = false;
    std::vector<std::int64_t> inner;   // ends of its open ranges
    std::vector<std::uint32_t> names;  // that it has had, of those that occur once
  };
  std::uint32_t lane_of(std::uint32_t request) const {
    return lanes_ == Lanes::one ? 0 : static_cast<std::uint32_t>(steps_.thread[request]);
  }
  void advance(std::int64_t to);
  void unlink(std::uint32_t request);
  void link_last(std::uint32_t request, std::int64_t at);
  bool fits(const Request& request, const Entered& range) const;

  const LoopSteps& steps_;
  Lanes lanes_;
  std::uint32_t begun_ = 0;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> last_;  // of each lane
  using Event = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> due_;
};

}  // namespace nvspan::reader
