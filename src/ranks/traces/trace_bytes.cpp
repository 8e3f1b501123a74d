// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/traces/trace.hpp"

#include "ranks/summary/packed.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace nvspan::ranks {
namespace {

// Times are near the one before them.
class TimePacker {
 public:
  explicit TimePacker(Packer& to) : to_(to) {}
  void operator()(std::int64_t time) {
    to_.number(static_cast<std::int64_t>(static_cast<std::uint64_t>(time) - last_));
    last_ = static_cast<std::uint64_t>(time);
  }

 private:
  Packer& to_;
  std::uint64_t last_ = 0;
};

class TimeUnpacker {
 public:
  explicit TimeUnpacker(Unpacker& from) : from_(from) {}
  std::int64_t operator()() {
    last_ += static_cast<std::uint64_t>(from_.number());
    return static_cast<std::int64_t>(last_);
  }

 private:
  Unpacker& from_;
  std::uint64_t last_ = 0;
};

constexpr std::uint64_t has_wait = 8;
constexpr std::uint64_t has_end = 16;
constexpr std::uint64_t is_device = 32;
constexpr std::uint64_t is_enqueued = 64;

void pack(Packer& to, TimePacker& time, const Collective& one) {
  to.count(static_cast<std::uint64_t>(one.kind) | (one.wait != no_time ? has_wait : 0) |
           (one.end != no_time ? has_end : 0) | (one.device ? is_device : 0) |
           (one.enqueued ? is_enqueued : 0));
  time(one.begin);
  if (one.wait != no_time) time(one.wait);
  if (one.end != no_time) time(one.end);
  to.count(one.group);
  for (const std::int64_t value :
       {one.early, one.sequence, one.bytes, std::int64_t{one.op}, std::int64_t{one.size},
        std::int64_t{one.root}, std::int64_t{one.rank}}) {
    to.number(value);
  }
}

void unpack(Unpacker& from, TimeUnpacker& time, Collective& one) {
  const std::uint64_t bits = from.count();
  if ((bits & 7) > static_cast<std::uint64_t>(CollectiveKind::none)) {
    throw SummaryError("the traces are damaged");
  }
  one.kind = static_cast<CollectiveKind>(bits & 7);
  one.device = (bits & is_device) != 0;
  one.enqueued = (bits & is_enqueued) != 0;
  one.begin = time();
  if ((bits & has_wait) != 0) one.wait = time();
  if ((bits & has_end) != 0) one.end = time();
  one.group = from.count();
  for (std::int64_t* value : {&one.early, &one.sequence, &one.bytes}) *value = from.number();
  for (std::int32_t* value : {&one.op, &one.size, &one.root, &one.rank}) {
    *value = static_cast<std::int32_t>(from.number());
  }
}

void pack(Packer& to, const RankTrace& trace) {
  to.number(trace.rank);
  to.count(trace.process);
  for (const std::string* text : {&trace.path, &trace.host, &trace.boot_id}) to.text(*text);
  to.count(trace.pid);
  to.count(trace.device ? 1 : 0);
  TimePacker time(to);
  time(trace.start);
  time(trace.end);
  to.count(trace.collectives.size());
  for (const Collective& one : trace.collectives) pack(to, time, one);
  to.count(trace.first.size());
  std::size_t last = 0;
  for (const std::size_t first : trace.first) {
    to.count(first - last);
    last = first;
  }
  to.count(trace.parts.size());
  for (const Part& part : trace.parts) {
    to.number(part.name);
    to.number(part.ns);
  }
  to.count(trace.steps.size());
  for (const Step& step : trace.steps) {
    to.number(step.number);
    time(step.start);
    time(step.end);
  }
}

// Parts of one stretch of work are in the order of their names' numbers, which are others here.
void put_in_order(RankTrace& trace) {
  for (std::size_t i = 0; i + 1 < trace.first.size(); ++i) {
    const auto begin = trace.parts.begin() + static_cast<std::ptrdiff_t>(trace.first[i]);
    const auto end = trace.parts.begin() + static_cast<std::ptrdiff_t>(trace.first[i + 1]);
    std::sort(begin, end, [](const Part& a, const Part& b) { return a.name < b.name; });
    std::int64_t sum = trace.sums.empty() ? 0 : trace.sums.back();
    for (auto part = begin; part != end; ++part) sum += part->ns;
    trace.sums.push_back(sum);
  }
}

RankTrace unpack(Unpacker& from, const std::vector<std::int32_t>& ids) {
  const auto id_of = [&](std::int32_t id) {
    if (id < 0 || static_cast<std::size_t>(id) >= ids.size()) {
      throw SummaryError("the traces are damaged");
    }
    return ids[static_cast<std::size_t>(id)];
  };
  RankTrace trace;
  trace.rank = static_cast<std::int32_t>(from.number());
  trace.process = static_cast<std::uint32_t>(from.count());
  for (std::string* text : {&trace.path, &trace.host, &trace.boot_id}) *text = from.text();
  trace.pid = static_cast<std::uint32_t>(from.count());
  trace.device = from.count() != 0;
  TimeUnpacker time(from);
  trace.start = time();
  trace.end = time();
  trace.collectives.resize(from.size());
  for (Collective& one : trace.collectives) {
    unpack(from, time, one);
    one.op = id_of(one.op);
  }
  trace.first.resize(from.size());
  std::size_t last = 0;
  for (std::size_t& first : trace.first) first = last += from.size();
  trace.parts.resize(from.size());
  for (Part& part : trace.parts) {
    part.name = id_of(static_cast<std::int32_t>(from.number()));
    part.ns = from.number();
  }
  if (trace.first.size() != trace.collectives.size() + 2 || last != trace.parts.size()) {
    throw SummaryError("the traces are damaged");
  }
  trace.steps.resize(from.size());
  for (Step& step : trace.steps) {
    step.number = from.number();
    step.start = time();
    step.end = time();
  }
  put_in_order(trace);
  return trace;
}

}  // namespace

std::string packed_traces(const std::vector<RankTrace>& traces, const core::TextTable& texts) {
  std::string bytes;
  Packer to(bytes);
  to.count(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) to.text(texts[i]);
  to.count(traces.size());
  for (const RankTrace& trace : traces) pack(to, trace);
  return bytes;
}

std::vector<RankTrace> unpacked_traces(std::string_view bytes, core::TextTable& texts) {
  Unpacker from(bytes);
  std::vector<std::int32_t> ids(from.size());
  for (std::int32_t& id : ids) id = texts.add(from.text());
  std::vector<RankTrace> traces;
  for (std::size_t left = from.size(); left != 0; --left) traces.push_back(unpack(from, ids));
  if (!from.at_end()) throw SummaryError("the traces are damaged");
  return traces;
}

}  // namespace nvspan::ranks
