// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/modules/module_figures.hpp"

#include "ranks/modules/module_passes.hpp"
#include "ranks/modules/module_places.hpp"
#include "ranks/modules/module_work.hpp"
#include "ranks/summary/range_sums.hpp"
#include "ranks/summary/summarize.hpp"
#include "reader/projection/module_sites.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/scan/work_sites.hpp"
#include "reader/stats/aggregate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace nvspan::ranks {
namespace {

using reader::EntryPayload;

constexpr std::string_view forward_word = "forward ";  // of a category that has the class
enum ModuleTime : std::uint8_t { forward_cpu, backward_cpu, forward_gpu, backward_gpu };

// Times that count, sorted, apart.
class Spans {
 public:
  void add(std::int64_t start, std::int64_t end) { spans_.emplace_back(start, end); }
  void sort() {
    std::sort(spans_.begin(), spans_.end());
    std::size_t kept = 0;
    for (const auto& span : spans_) {
      if (kept != 0 && span.first < spans_[kept - 1].second) {
        spans_[kept - 1].second = std::max(spans_[kept - 1].second, span.second);
      } else {
        spans_[kept++] = span;
      }
    }
    spans_.resize(kept);
  }
  // The number of the one that holds the time, from 1 on; 0: none.
  std::uint32_t at(std::int64_t time) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), time,
                         [](std::int64_t value, const auto& span) { return value < span.first; });
    if (after == spans_.begin() || time >= after[-1].second) return 0;
    return static_cast<std::uint32_t>(after - spans_.begin());
  }
  std::int64_t end_of(std::uint32_t number) const { return spans_[number - 1].second; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> spans_;
};

// The field of a payload that nvspan.torch gives to modules whose shapes are recorded.
class SequenceField final : public trace::PayloadVisitor {
 public:
  std::uint64_t number = no_number;

  bool value(std::string_view name, const trace::PayloadValue& value) override {
    if (name != "sequence") return true;
    number = value.count;
    return false;
  }
};

enum class ModuleRole : std::uint8_t { none, forward, pass, step };
struct ModuleSite {
  ModuleRole role = ModuleRole::none;
  bool repeated = false;
  std::int32_t name = 0;  // of the module
  std::int32_t kind = 0;  // of a forward pass: its class
};

struct ForwardSums {
  RangeSums sums;
  reader::Outermost outermost;
};
struct PlaceSums {
  std::unique_ptr<ForwardSums> inside, elsewhere;  // on the threads of the steps, and on others
  std::array<std::unique_ptr<RangeSums>, 4> passes;
};

template <typename T>
T& made(std::unique_ptr<T>& of) {
  if (of == nullptr) of = std::make_unique<T>();
  return *of;
}

class ModuleScan : public reader::RangeScan<ModuleScan> {
 public:
  ModuleScan(const reader::Recording& recording, const reader::Selection& selection,
             const ModuleOptions& options, Summary& to)
      : RangeScan(recording, selection),
        to_(to),
        payloads_(recording),
        launch_threads_(recording),
        has_steps_(options.steps.has_value()) {
    find_roles(options);
    for (const std::string& name : options.work_domains) {
      reader::mark_sites(recording, name, is_work_);
    }
    is_work_.resize(recording.sites().size());
    has_kernels_ = std::find(is_work_.begin(), is_work_.end(), 1) != is_work_.end();
    steps_of_thread_.resize(recording.threads().size());
    steps_of_process_.resize(recording.processes().size());
    if (!has_steps_) return;
    for (const ModuleStep& step : *options.steps) {
      steps_of_thread_[step.thread].add(step.start, step.end);
      steps_of_process_[recording.threads()[step.thread].process].add(step.start, step.end);
    }
    for (Spans& each : steps_of_thread_) each.sort();
    for (Spans& each : steps_of_process_) each.sort();
  }

  // The row of a forward pass is its place and step; of one that is repeated, its number among the
  // passes and a mark. Ranges that are no modules hand on what is around them.
  std::uint64_t open(const reader::PushRange& range, std::uint64_t around,
                     const EntryPayload& payload) {
    const ModuleSite& role = roles_[range.site];
    if (role.role == ModuleRole::none) return around;
    if (role.role == ModuleRole::step) return no_row;
    const std::int64_t at = time(range.start);
    const std::uint64_t number = keeps_calls_ ? number_of(range.site, payload) : no_number;
    if (role.role == ModuleRole::pass) {
      ModulePass& pass = passes_.emplace_back();
      pass.name = role.name;
      pass.thread = pass.lane = thread_;
      pass.start = pass.end = pass.asked = at;
      pass.number = number;
      pass.repeated = role.repeated;
      return pass_mark | (passes_.size() - 1);
    }
    const std::uint32_t step = has_steps_ ? steps_of_thread_[thread_].at(at) : 1;
    const bool is_caller = (around & pass_mark) == 0 && static_cast<std::uint32_t>(around) == step;
    const ModulePlace place =
        place_of(is_caller ? static_cast<ModulePlace>(around >> 32) : no_place, role);
    if (ForwardSums* const sums = forward_sums(place, step, at)) sums->outermost.open();
    if (keeps_calls_) calls_.push_back(ModuleCall{role.name, thread_, place, at, number});
    return std::uint64_t{place} << 32 | step;
  }
  std::uint64_t opened(const reader::ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload& payload) {
    const reader::ReadSite& site = recording_.sites()[range.site];
    const ModuleSite& role = roles_[range.site];
    if (is_work_[range.site] != 0) return begin_kernel(range, payload);
    if (role.role != ModuleRole::pass || (site.device == 0 && !site.backward)) return no_row;
    ModulePass& pass = passes_.emplace_back();
    pass.name = role.name;
    pass.thread = pass.lane = range.thread;
    pass.start = pass.end = pass.asked = range.start;
    pass.repeated = role.repeated;
    pass.backward = site.backward;
    pass.on_gpu = site.device != 0;
    if (pass.on_gpu) {
      reader::DeviceCall call;
      reader::read_device_call(*process_, site, payload, call);
      const std::uint32_t process = recording_.threads()[range.thread].process;
      pass.lane = device_lane_mark | lanes_.lane(process, call, 0);
      pass.thread = launch_threads_.launching_thread(process, call, range.thread);
      if (call.launched != 0) pass.asked = time(call.launched);
      pass.number = number_of(range.site, call.payload);
    } else {
      pass.number = number_of(range.site, payload);
    }
    return passes_.size() - 1;
  }
  void ended(const reader::ScannedRange& range) {
    const ModuleSite& role = roles_[range.site];
    if (range.row == no_row) return;
    if (is_work_[range.site] != 0) {
      kernels_[range.row].start = range.start;
      kernels_[range.row].end = std::max(range.start, range.end);
      return;
    }
    if (role.role == ModuleRole::none || role.role == ModuleRole::step) return;
    const bool closed = range.reason == reader::EndReason::closed;
    if (range.kind != reader::RangeKind::push_pop || (range.row & pass_mark) != 0) {
      ModulePass& pass = passes_[range.row & ~pass_mark];
      pass.end = std::max(range.start, range.end);
      pass.closed = closed;
      return;
    }
    const auto step = static_cast<std::uint32_t>(range.row);
    const auto place = static_cast<ModulePlace>(range.row >> 32);
    ForwardSums* const sums = forward_sums(place, step, range.start);
    if (sums == nullptr) {
      return add_captured_span(ModuleSpan{thread_, range.start, range.end, place, false});
    }
    const bool is_within =
        step == 0 || !has_steps_ || range.end <= steps_of_thread_[thread_].end_of(step);
    if (!closed || !is_within) return sums->outermost.drop();
    sums->sums.add(range.start, range.end, unix_offset(*process_));
    if (has_kernels_) {
      spans_.push_back(ModuleSpan{thread_, range.start, range.end, place, false});
    }
    sums->outermost.close(static_cast<double>(std::max<std::int64_t>(0, range.end - range.start)),
                          0);
  }
  void end_process(std::uint32_t process) {
    for (const std::int32_t name : find_owners(*places_, calls_, passes_)) {
      unknown.insert(names_[static_cast<std::size_t>(name)]);
    }
    for (const ModulePass& pass : passes_) {
      if (!pass.closed || pass.place == no_place) continue;
      const bool backward = pass.backward || pass.repeated;
      if (has_steps_ && steps_of_process_[process].at(pass.asked) == 0) {
        if (pass.on_gpu) continue;
        add_captured_span(ModuleSpan{pass.thread, pass.start, pass.end, pass.place, true});
        continue;
      }
      if (has_kernels_ && !pass.on_gpu) {
        spans_.push_back(ModuleSpan{pass.thread, pass.start, pass.end, pass.place, true});
      }
      if (has_kernels_ && pass.on_gpu && pass.asked != pass.start) continue;
      const ModuleTime of = pass.on_gpu ? (backward ? backward_gpu : forward_gpu) : backward_cpu;
      RangeSums& sums = made(sums_[pass.place].passes[of]);
      sums.add(pass.start, pass.end, unix_offset(*process_));
      if (pass.nested) sums.figures.nested += pass.end - pass.start;
    }
    if (has_kernels_) add_work(process);
    write(process);
    spans_.clear();
    kernels_.clear();
    captured_.clear();
    calls_.clear();
    passes_.clear();
    sums_.clear();
    place_numbers_.clear();
    places_ = std::make_unique<ModulePlaces>(classes_);
  }

  std::set<std::string> unknown;

 private:
  static constexpr std::uint64_t pass_mark = std::uint64_t{1} << 63;
  static constexpr std::uint32_t device_lane_mark = std::uint32_t{1} << 31;

  void find_roles(const ModuleOptions& options) {
    const auto& sites = recording_.sites();
    roles_.resize(sites.size());
    std::unordered_map<std::string_view, std::int32_t> known;
    std::set<std::uint32_t> domains;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      if (options.around[i]) roles_[i].role = ModuleRole::step;
      if (!options.forward[i]) continue;
      const std::string_view name = recording_.text(sites[i].name);
      const auto [found, is_new] = known.emplace(name, static_cast<std::int32_t>(names_.size()));
      if (is_new) names_.emplace_back(name);
      domains.insert(sites[i].domain);
      if (sites[i].device != 0 || sites[i].backward) continue;
      const std::string_view kind = class_of(sites[i]);
      roles_[i] = ModuleSite{ModuleRole::forward, false, found->second, kinds_.add(kind)};
      const auto [agreed, is_first] = classes_.emplace(name, kind);
      if (!is_first && agreed->second != kind) agreed->second = {};
    }
    for (std::size_t i = 0; i < sites.size(); ++i) {
      if (roles_[i].role != ModuleRole::none || domains.count(sites[i].domain) == 0) continue;
      std::string_view name = recording_.text(sites[i].name);
      const bool repeated = reader::drop_repeat_mark(name);
      const auto found = known.find(name);
      if (found == known.end()) continue;
      if (!repeated && !sites[i].backward && sites[i].device == 0) continue;
      roles_[i] = ModuleSite{ModuleRole::pass, repeated, found->second, 0};
      keeps_calls_ = true;
    }
  }

  std::string_view class_of(const reader::ReadSite& site) const {
    std::string_view category = recording_.text(site.category_name);
    if (category.substr(0, forward_word.size()) != forward_word) return {};
    category.remove_prefix(forward_word.size());
    return category;
  }

  std::uint64_t begin_kernel(const reader::ScannedRange& range, const EntryPayload& payload) {
    reader::DeviceCall call;
    reader::read_device_call(*process_, recording_.sites()[range.site], payload, call);
    if (call.launched == 0) return no_row;
    const std::uint32_t process = recording_.threads()[range.thread].process;
    ModuleKernel& kernel = kernels_.emplace_back();
    kernel.thread = launch_threads_.launching_thread(process, call, range.thread);
    kernel.launched = time(call.launched);
    if (call.node != nullptr) {
      CapturedKernel captured;
      captured.kernel = kernels_.size() - 1;
      captured.launch = call.launch;
      call.thread = call.node->tid;
      captured.thread = launch_threads_.launching_thread(process, call, range.thread);
      captured.time = time(call.node->made);
      captured.began = call.node->capture_began == 0 ? 0 : time(call.node->capture_began);
      captured_.push_back(captured);
    }
    return kernels_.size() - 1;
  }
  // One that does not count itself may lie in the capture of a graph, whose replays do.
  void add_captured_span(ModuleSpan span) {
    if (!has_kernels_ || process_->graph_nodes.empty()) return;
    span.counts = false;
    spans_.push_back(span);
  }
  void add_work(std::uint32_t process) {
    captured_.erase(std::remove_if(captured_.begin(), captured_.end(),
                                   [&](const CapturedKernel& one) {
                                     const std::int64_t at = kernels_[one.kernel].launched;
                                     return has_steps_ && steps_of_process_[process].at(at) == 0;
                                   }),
                    captured_.end());
    const std::vector<ModuleSpan> replays = replay_spans(spans_, kernels_, captured_);
    share_work(spans_, kernels_);
    spans_.insert(spans_.end(), replays.begin(), replays.end());
    for (const ModuleSpan& span : spans_) {
      if (span.until == 0 || !span.counts) continue;
      const ModuleTime of = span.backward ? backward_gpu : forward_gpu;
      made(sums_[span.place].passes[of])
          .add(span.first, span.first + span.busy, unix_offset(*process_));
    }
  }

  std::uint64_t number_of(std::uint32_t site, const EntryPayload& payload) {
    if (payload.bytes == nullptr) return payload.present ? payload.bits : no_number;
    SequenceField field;
    payloads_.read(recording_.threads()[thread_].process, recording_.sites()[site].local_domain,
                   payload.bytes, payload.bits, field);
    return field.number;
  }

  ModulePlace place_of(ModulePlace caller, const ModuleSite& module) {
    const core::PathKey key{caller, static_cast<std::uint64_t>(module.name) << 32 |
                                        static_cast<std::uint32_t>(module.kind)};
    const auto [found, is_new] = place_numbers_.emplace(key, no_place);
    if (is_new) {
      found->second = places_->called(caller, names_[static_cast<std::size_t>(module.name)],
                                      kinds_[static_cast<std::size_t>(module.kind)]);
    }
    if (sums_.size() < places_->size()) sums_.resize(places_->size());
    return found->second;
  }

  // Null: the call does not count.
  ForwardSums* forward_sums(ModulePlace place, std::uint32_t step, std::int64_t start) {
    if (step != 0) return &made(sums_[place].inside);
    const std::uint32_t process = recording_.threads()[thread_].process;
    return steps_of_process_[process].at(start) == 0 ? nullptr : &made(sums_[place].elsewhere);
  }

  void write(std::uint32_t process) {
    const bool bounded = std::any_of(sums_.begin(), sums_.end(), [](const PlaceSums& sums) {
      return sums.inside != nullptr && sums.inside->sums.figures.calls != 0;
    });
    for (ModulePlace place = 0; place < sums_.size(); ++place) {
      PlaceSums& sums = sums_[place];
      const auto& forward = bounded ? sums.inside : sums.elsewhere;
      if (forward != nullptr) {
        forward->sums.figures.nested = static_cast<Wide>(forward->outermost.within().time);
        add_row(process, place, forward_cpu, forward->sums);
      }
      for (std::uint8_t of = backward_cpu; of <= backward_gpu; ++of) {
        if (sums.passes[of] != nullptr) add_row(process, place, of, *sums.passes[of]);
      }
    }
  }
  void add_row(std::uint32_t process, ModulePlace place, std::uint8_t of, const RangeSums& sums) {
    if (sums.figures.calls == 0) return;
    RangeKey key;
    key.domain = to_.intern(places_->name(places_->model(place)));
    key.name = to_.intern(places_->way(place));
    key.kind = static_cast<std::uint8_t>(kind_of_modules + of);
    key.group = group_of(recording_.processes()[process]);
    to_.row(key).merge(sums.packed());
  }

  Summary& to_;
  reader::RecordedPayloads payloads_;
  reader::LaunchThreads launch_threads_;
  reader::DeviceLanes lanes_;
  const bool has_steps_;
  bool keeps_calls_ = false;  // there are passes whose calls are asked for
  bool has_kernels_ = false;
  std::vector<ModuleSite> roles_;
  std::vector<std::uint8_t> is_work_;  // of each site
  std::vector<std::string> names_;
  core::TextTable kinds_;
  ModuleClasses classes_;
  std::vector<Spans> steps_of_thread_, steps_of_process_;

  // Of one process.
  std::unique_ptr<ModulePlaces> places_ = std::make_unique<ModulePlaces>(classes_);
  std::unordered_map<core::PathKey, ModulePlace, core::PathHash> place_numbers_;
  std::vector<PlaceSums> sums_;  // of each place
  std::vector<ModuleCall> calls_;
  std::vector<ModulePass> passes_;
  std::vector<ModuleSpan> spans_;
  std::vector<ModuleKernel> kernels_;
  std::vector<CapturedKernel> captured_;
};

}  // namespace

std::vector<std::string> add_modules(const reader::Recording& recording,
                                     const reader::Selection& selection,
                                     const ModuleOptions& options, Summary& to) {
  if (std::find(options.forward.begin(), options.forward.end(), true) == options.forward.end()) {
    return {};
  }
  ModuleScan scan(recording, selection, options, to);
  scan.run();
  return {scan.unknown.begin(), scan.unknown.end()};
}

}  // namespace nvspan::ranks
