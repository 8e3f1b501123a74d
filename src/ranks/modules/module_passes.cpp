// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/modules/module_passes.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace nvspan::ranks {
namespace {

using Candidates = std::vector<ModulePlace>;

// Leaves those that one more fact allows, if it allows any.
template <typename Allows>
void narrow(Candidates& candidates, Allows&& allows) {
  Candidates left;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(left), allows);
  if (!left.empty()) candidates.swap(left);
}

bool has(const Candidates& among, ModulePlace place) {
  return std::find(among.begin(), among.end(), place) != among.end();
}

// The calls of a name that several modules have.
struct SharedName {
  std::vector<const ModuleCall*> by_start, by_number;
  std::unordered_map<std::uint32_t, std::vector<const ModuleCall*>> of_thread;  // by start
  std::size_t begun = 0;                                                        // of by_start
  // Calls that have begun and whose backward pass has not, by place and thread.
  std::map<std::pair<ModulePlace, std::uint32_t>, std::int64_t> outstanding;

  void begin_until(std::int64_t time) {
    for (; begun < by_start.size() && by_start[begun]->start <= time; ++begun) {
      ++outstanding[{by_start[begun]->place, by_start[begun]->thread}];
    }
  }
  // Autograd counts the nodes of each thread: of the calls that have one number the last alone made
  // any.
  Candidates places_of_number(const ModulePass& pass) const {
    std::map<std::uint32_t, ModulePlace> last;  // by thread
    auto at = std::lower_bound(
        by_number.begin(), by_number.end(), pass.number,
        [](const ModuleCall* call, std::uint64_t number) { return call->number < number; });
    for (; at != by_number.end() && (*at)->number == pass.number; ++at) {
      if ((*at)->start <= pass.asked) last[(*at)->thread] = (*at)->place;
    }
    Candidates found;
    for (const auto& entry : last) found.push_back(entry.second);
    return found;
  }
  // Of the last call on the thread until that time.
  ModulePlace place_at(std::uint32_t thread, std::int64_t time) const {
    const auto calls = of_thread.find(thread);
    if (calls == of_thread.end()) return no_place;
    const auto after = std::upper_bound(
        calls->second.begin(), calls->second.end(), time,
        [](std::int64_t until, const ModuleCall* call) { return until < call->start; });
    return after == calls->second.begin() ? no_place : after[-1]->place;
  }
  Candidates outstanding_places(const Candidates& among, std::uint32_t thread) const {
    Candidates here, anywhere;
    for (const auto& [call, count] : outstanding) {
      if (count <= 0 || !has(among, call.first)) continue;
      anywhere.push_back(call.first);
      if (call.second == thread) here.push_back(call.first);
    }
    return here.empty() ? anywhere : here;
  }
  void finish(ModulePlace place, std::uint32_t thread) {
    auto found = outstanding.find({place, thread});
    if (found == outstanding.end() || found->second <= 0) {
      found = std::find_if(outstanding.begin(), outstanding.end(), [&](const auto& entry) {
        return entry.first.first == place && entry.second > 0;
      });
    }
    if (found != outstanding.end()) --found->second;
  }
};

class CallerSearch {
 public:
  CallerSearch(const ModulePlaces& places, const std::vector<ModuleCall>& calls) : places_(places) {
    for (const ModuleCall& call : calls) {
      Candidates& of_name = places_of_name_[call.name];
      if (!has(of_name, call.place)) of_name.push_back(call.place);
    }
    for (const ModuleCall& call : calls) {
      if (places_of_name_[call.name].size() < 2) continue;
      SharedName& shared = shared_[call.name];
      shared.by_start.push_back(&call);
      shared.of_thread[call.thread].push_back(&call);
      if (call.number != no_number) shared.by_number.push_back(&call);
    }
    for (auto& [_, shared] : shared_) {
      std::stable_sort(
          shared.by_number.begin(), shared.by_number.end(),
          [](const ModuleCall* a, const ModuleCall* b) { return a->number < b->number; });
    }
  }

  void find(ModulePass& pass) {
    std::vector<const ModulePass*>& open = open_[pass.lane];
    const auto has_ended = [&](const ModulePass* one) { return one->end <= pass.start; };
    open.erase(std::remove_if(open.begin(), open.end(), has_ended), open.end());
    const auto found = places_of_name_.find(pass.name);
    if (found == places_of_name_.end()) return;
    Candidates candidates = found->second;
    if (candidates.size() > 1) choose(pass, open, candidates);
    if (candidates.size() > 1) unknown.insert(pass.name);
    pass.place = candidates.front();
    pass.nested = std::any_of(open.begin(), open.end(), [&](const ModulePass* one) {
      return one->place == pass.place && one->end >= pass.end;
    });
    open.push_back(&pass);
    if (pass.repeated && !pass.on_gpu && !pass.backward && pass.number != no_number) {
      repeated_[{pass.name, pass.number}] = pass.place;
    }
  }

  std::set<std::int32_t> unknown;

 private:
  void choose(const ModulePass& pass, const std::vector<const ModulePass*>& open,
              Candidates& candidates) {
    SharedName& shared = shared_[pass.name];
    // Work of a forward pass comes after calls that have its number too: where nobody knows when it
    // was launched, as in a graph's replay, the number tells nothing.
    const bool is_launch_known = !pass.on_gpu || pass.asked != pass.start;
    if (!pass.repeated && pass.number != no_number && (pass.backward || is_launch_known)) {
      const Candidates numbered = shared.places_of_number(pass);
      narrow(candidates, [&](ModulePlace one) { return has(numbered, one); });
    }
    const bool follows_repeated = pass.repeated && (pass.backward || pass.on_gpu);
    const auto call = repeated_.find({pass.name, pass.number});
    if (follows_repeated && call != repeated_.end()) {
      narrow(candidates, [&](ModulePlace one) { return one == call->second; });
    }
    if (pass.on_gpu && !pass.backward && !pass.repeated && is_launch_known) {
      const ModulePlace launcher = shared.place_at(pass.thread, pass.asked);
      narrow(candidates, [&](ModulePlace one) { return one == launcher; });
    }
    for (std::size_t i = open.size(); i-- > 0 && candidates.size() > 1;) {
      narrow(candidates, [&](ModulePlace one) { return places_.is_within(one, open[i]->place); });
    }
    if (pass.on_gpu || pass.repeated) return;
    shared.begin_until(pass.start);
    const Candidates waiting = shared.outstanding_places(candidates, pass.thread);
    narrow(candidates, [&](ModulePlace one) { return has(waiting, one); });
    shared.finish(candidates.front(), pass.thread);
  }

  const ModulePlaces& places_;
  std::unordered_map<std::int32_t, Candidates> places_of_name_;
  std::unordered_map<std::int32_t, SharedName> shared_;
  std::unordered_map<std::uint32_t, std::vector<const ModulePass*>> open_;  // by lane
  std::map<std::pair<std::int32_t, std::uint64_t>, ModulePlace> repeated_;  // by name and number
};

}  // namespace

std::set<std::int32_t> find_owners(const ModulePlaces& places, std::vector<ModuleCall>& calls,
                                   std::vector<ModulePass>& passes) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const ModuleCall& a, const ModuleCall& b) { return a.start < b.start; });
  std::stable_sort(passes.begin(), passes.end(), [](const ModulePass& a, const ModulePass& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  CallerSearch search(places, calls);
  for (ModulePass& pass : passes) search.find(pass);
  return std::move(search.unknown);
}

}  // namespace nvspan::ranks
