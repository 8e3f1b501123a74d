// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/step_launches.hpp"

#include <algorithm>
#include <utility>

namespace nvspan::reader {
namespace {

std::int64_t domain_called(const Recording& recording, std::string_view text) {
  for (std::size_t i = 0; i < recording.domains().size() && !text.empty(); ++i) {
    const std::int32_t name = recording.domains()[i];
    if (name >= 0 && recording.strings()[static_cast<std::size_t>(name)] == text) {
      return static_cast<std::int64_t>(i);
    }
  }
  return -1;
}

}  // namespace

StepLaunches::StepLaunches(const Recording& recording, const std::string& call_domain,
                           const std::vector<std::string>& work_domains)
    : recording_(recording), is_work_(recording.sites().size()) {
  const auto mark = [&](std::string_view name, std::vector<std::uint8_t>& sites) {
    const std::int64_t domain = domain_called(recording, name);
    for (std::size_t i = 0; i < sites.size() && domain >= 0; ++i) {
      if (recording.sites()[i].domain == domain) sites[i] = 1;
    }
    return domain >= 0;
  };
  bool any = false;
  for (const std::string& name : work_domains) any = mark(name, is_work_) || any;
  if (!any) return;
  is_call_.resize(recording.sites().size());
  if (!mark(call_domain, is_call_)) is_call_.clear();
}

void StepLaunches::add_call(std::int64_t at, std::uint32_t thread, const EntryPayload& payload) {
  if (payload.present && payload.bytes == nullptr) {
    calls_.push_back(Call{payload.bits, at, thread});
  }
}

std::uint64_t StepLaunches::begin(std::uint32_t process, std::uint32_t thread, std::uint32_t site,
                                  std::int32_t phase, const EntryPayload& payload) {
  Begun begun;
  const ReadProcess& of = recording_.processes()[process];
  read_device_call(of, recording_.sites()[site], payload, begun.call);
  begun.phase = phase;
  begun.is_seen = is_work_[site] != 0;
  begun.launched = begun.call.launched == 0 ? 0 : of.time(begun.call.launched);
  if (!launch_threads_) launch_threads_ = std::make_unique<LaunchThreads>(recording_);
  begun.thread = launch_threads_->of(process, begun.call, thread);
  begun_.push_back(begun);
  return begun_.size() - 1;
}

void StepLaunches::end(std::uint64_t begun, const ScannedRange& range) {
  if (begun >= begun_.size() || range.reason != EndReason::closed) return;
  const Begun& work = begun_[begun];
  StepOp op;
  op.start = range.start;
  op.end = range.end;
  op.device = work.call.device;
  op.thread = work.thread;
  op.phase = work.phase;
  op.is_launch_known = work.call.launched != 0;
  // The number of its call, until the calls are known.
  op.launched = op.is_launch_known ? work.launched : static_cast<std::int64_t>(work.call.launch);
  (work.is_seen ? seen_ : ops_).push_back(op);
}

std::vector<StepOp> StepLaunches::take() {
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.number < b.number; });
  for (StepOp& op : seen_) {
    if (op.is_launch_known) continue;
    const auto number = static_cast<std::uint64_t>(op.launched);
    const auto found =
        std::lower_bound(calls_.begin(), calls_.end(), number,
                         [](const Call& call, std::uint64_t of) { return call.number < of; });
    op.is_launch_known = found != calls_.end() && found->number == number;
    if (!op.is_launch_known) continue;
    op.launched = found->time;
    op.thread = found->thread;
  }
  has_seen_ = has_seen_ || !seen_.empty();
  std::vector<StepOp> all = std::move(seen_.empty() ? ops_ : seen_);
  ops_.clear();
  seen_.clear();
  calls_.clear();
  begun_.clear();
  return all;
}

}  // namespace nvspan::reader
