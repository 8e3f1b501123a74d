// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/open_requests.hpp"

#include <algorithm>

namespace nvspan::reader {

OpenRequests::OpenRequests(const LoopSteps& requests, Lanes lanes, std::size_t threads)
    : steps_(requests),
      lanes_(lanes),
      requests_(requests.size()),
      last_(lanes == Lanes::one ? 1 : threads, none) {}

void OpenRequests::unlink(std::uint32_t request) {
  Request& one = requests_[request];
  if (!one.is_open) return;
  if (one.before != none) requests_[one.before].after = one.after;
  if (one.after != none) {
    requests_[one.after].before = one.before;
  } else {
    last_[lane_of(request)] = one.before;
  }
  one.is_open = false;
}

void OpenRequests::link_last(std::uint32_t request, std::int64_t at) {
  Request& one = requests_[request];
  std::uint32_t& last = last_[lane_of(request)];
  one.before = last;
  one.after = none;
  if (last != none) requests_[last].after = request;
  last = request;
  one.latest = at;
  one.is_open = true;
}

void OpenRequests::advance(std::int64_t to) {
  while (begun_ < steps_.size() && steps_.start[begun_] <= to) {
    due_.emplace(steps_.start[begun_], begun_);
    due_.emplace(steps_.end[begun_], begun_);
    ++begun_;
  }
  while (!due_.empty() && due_.top().first <= to) {
    const auto [at, request] = due_.top();
    due_.pop();
    unlink(request);
    Request& one = requests_[request];
    if (steps_.end[request] > to) {
      link_last(request, at);
      const std::int64_t ended = at;
      one.inner.erase(std::remove_if(one.inner.begin(), one.inner.end(),
                                     [&](std::int64_t end) { return end <= ended; }),
                      one.inner.end());
    } else {
      one.inner = {};
      one.names = {};
    }
  }
}

bool OpenRequests::fits(const Request& request, const Entered& range) const {
  if (!request.inner.empty() && request.inner.back() < range.end) return false;
  return !range.is_once ||
         std::find(request.names.begin(), request.names.end(), range.group) == request.names.end();
}

OpenRequests::Owner OpenRequests::enter(const Entered& range) {
  advance(range.start);
  std::uint32_t owner = none, next = none, otherwise = none;
  const std::uint32_t last = range.lane < last_.size() ? last_[range.lane] : none;
  for (std::uint32_t one = last; one != none && next == none; one = requests_[one].before) {
    if (steps_.end[one] < range.end) continue;
    if (otherwise == none) otherwise = one;
    if (!fits(requests_[one], range)) continue;
    (owner == none ? owner : next) = one;
  }
  Owner found{owner == none ? otherwise : owner, false};
  if (found.request == none) return found;
  if (next != none) {
    found.is_doubtful =
        (range.start - requests_[owner].latest) * 4 > range.start - requests_[next].latest;
  }
  Request& request = requests_[found.request];
  request.inner.push_back(range.end);
  if (range.is_once) request.names.push_back(range.group);
  due_.emplace(range.end, found.request);
  return found;
}

}  // namespace nvspan::reader
