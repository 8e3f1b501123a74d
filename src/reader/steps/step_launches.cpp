// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/step_launches.hpp"

#include "reader/scan/work_sites.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace nvspan::reader {

StepLaunches::StepLaunches(const Recording& recording, const std::string& call_domain,
                           const std::vector<std::string>& work_domains)
    : recording_(recording), is_work_(recording.sites().size()) {
  for (const ReadSite& site : recording.sites()) {
    is_own_.push_back(site.device != 0 && is_own_kernel(recording.text(site.name)) ? 1 : 0);
  }
  bool any = false;
  for (const std::string& name : work_domains) {
    mark_sites(recording, name, is_work_);
    any = any || recording.domain_called(name) >= 0;
  }
  if (!any) return;
  kinds_.resize(is_work_.size());
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    if (is_work_[i] == 0) continue;
    const std::string_view name = recording.text(recording.sites()[i].name);
    if (work_kind_of(recording, i) == record::work_kind_text(record::WorkKind::graph)) {
      kinds_[i] = StepOp::Kind::graph;
    } else if (is_copy_to_host(name)) {
      kinds_[i] = StepOp::Kind::to_host;
    }
  }
  if (recording.domain_called(call_domain) >= 0) mark_sites(recording, call_domain, is_call_);
}

void StepLaunches::add_call(std::int64_t at, std::uint32_t thread, const EntryPayload& payload) {
  if (payload.present && payload.bytes == nullptr) {
    calls_.add(payload.bits, Call{at, thread});
  }
}

// So that ten million need no second place while they grow; what is not used is not touched.
void StepLaunches::reserve(std::uint32_t thread) {
  reserved_ = thread;
  std::size_t words = 0;
  for (const ReadChunk& chunk : recording_.threads()[thread].chunks) {
    words += static_cast<std::size_t>(chunk.end - chunk.begin);
  }
  const std::size_t most = seen_.size() + words / (1 + record::work_words);
  if (most > seen_.capacity()) seen_.reserve(std::max(most, 2 * seen_.capacity()));
}

std::uint64_t StepLaunches::begin(std::uint32_t process, std::uint32_t thread, std::uint32_t site,
                                  std::int32_t phase, const EntryPayload& payload) {
  const ReadProcess& of = recording_.processes()[process];
  DeviceCall call;
  read_device_call(of, recording_.sites()[site], payload, call);
  if (!launch_threads_) launch_threads_ = std::make_unique<LaunchThreads>(recording_);
  Begun begun;
  begun.is_seen = is_work_[site] != 0;
  if (begun.is_seen && thread != reserved_) reserve(thread);
  if (begun.is_seen) begun.op.kind = kinds_[site];
  begun.op.device = static_cast<std::int16_t>(call.device);
  begun.op.thread = launch_threads_->launching_thread(process, call, thread);
  begun.op.phase = static_cast<std::int8_t>(phase);
  begun.op.is_launch_known = call.launched != 0;
  // The number of its call, until the calls are known.
  begun.op.launched =
      begun.op.is_launch_known ? of.time(call.launched) : static_cast<std::int64_t>(call.launch);
  if (free_.empty()) {
    begun_.push_back(begun);
    return begun_.size() - 1;
  }
  const std::uint64_t place = free_.back();
  free_.pop_back();
  begun_[place] = begun;
  return place;
}

void StepLaunches::end(std::uint64_t begun, const ScannedRange& range) {
  if (begun >= begun_.size()) return;
  free_.push_back(begun);
  if (range.reason != EndReason::closed) return;
  Begun& work = begun_[begun];
  work.op.start = range.start;
  work.op.end = range.end;
  if (is_own_[range.site] == 0) (work.is_seen ? seen_ : ops_).push_back(work.op);
}

core::LargeVector<StepOp> StepLaunches::take() {
  calls_.sort();
  for (StepOp& op : seen_) {
    if (op.is_launch_known) continue;
    const Call* const call = calls_.find(static_cast<std::uint64_t>(op.launched));
    if (call == nullptr) continue;
    op.is_launch_known = true;
    op.launched = call->time;
    op.thread = call->thread;
  }
  has_seen_ = has_seen_ || !seen_.empty();
  core::LargeVector<StepOp> all = std::move(seen_.empty() ? ops_ : seen_);
  ops_.clear();
  seen_.clear();
  calls_.clear();
  begun_.clear();
  free_.clear();
  reserved_ = 0xFFFFFFFF;
  return all;
}

}  // namespace nvspan::reader
