// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/loops.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/loop_steps.hpp"
#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/loops/candidates.hpp"
#include "reader/loops/still_open.hpp"
#include "reader/loops/sums.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::LoopRanges;

template <typename Use>
auto without_lock(Use&& use) {
  const released_gil released;
  return use();
}

// Which names a part has, and how long its ranges are, does not matter for what is a step.
reader::Selection part_of(const reader::Selection& selection) {
  reader::Selection part = selection;
  part.sites.clear();
  part.shortest = 0;
  return part;
}

class LoopsObject {
 public:
  explicit LoopsObject(const RecordingHandle& handle)
      : shared_(without_lock([&] {
          return std::make_shared<LoopShared>(LoopShared{
              handle.recording, LoopRanges(*handle.recording, part_of(handle.selection))});
        })) {}

  py::list names() const {
    const reader::Recording& recording = *shared_->recording;
    py::list rows;
    for (const reader::LoopName& name : ranges().names()) {
      NewResult entry("LoopName");
      const std::int32_t domain = recording.domains()[name.domain];
      if (domain >= 0) entry["domain"] = recording.text(domain);
      if (name.name >= 0) entry["name"] = recording.text(name.name);
      entry["pair"] = py::make_tuple(name.domain, name.name);
      entry["ranges"] = name.ranges;
      entry["unclosed"] = name.unclosed;
      rows.append(entry.done());
    }
    return rows;
  }
  bool has_device_ranges() const { return ranges().has_device_ranges(); }
  std::int64_t begin() const { return ranges().first; }
  std::int64_t end() const { return ranges().last; }

  void nest(const std::vector<std::uint32_t>& groups, const std::vector<std::string>& labels,
            const std::vector<std::uint8_t>& traits) {
    if (shared_->is_nested) throw py::value_error("they are nested already");
    if (groups.size() != ranges().names().size() || labels.size() != traits.size()) {
      throw py::value_error("not one group for each name");
    }
    for (const std::uint32_t group : groups) {
      if (group >= labels.size()) throw py::index_error();
    }
    std::vector<reader::LoopGroup> of_labels(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      of_labels[i].label = labels[i];
      of_labels[i].traits = traits[i];
    }
    const released_gil released;
    shared_->ranges.nest(groups, std::move(of_labels));
    shared_->is_nested = true;
  }

  py::list threads() const {
    py::list rows;
    for (const reader::LoopThread& one : reader::find_threads(nested())) {
      NewResult entry("LoopThread");
      entry["thread"] = one.thread;
      entry["ranges"] = one.ranges;
      entry["floating"] = one.floating;
      entry["begin"] = one.begin;
      entry["end"] = one.end;
      entry["covered"] = one.covered;
      entry["waiting"] = one.waiting;
      rows.append(entry.done());
    }
    return rows;
  }

  py::list still_open() const {
    const reader::Recording& recording = *shared_->recording;
    py::list rows;
    for (const reader::OpenSum& sum : reader::find_open(recording, nested())) {
      const reader::ReadSite& site = recording.sites()[sum.site];
      NewResult entry("LoopOpen");
      const std::int32_t domain = recording.domains()[site.domain];
      if (domain >= 0) entry["domain"] = recording.text(domain);
      if (site.name >= 0) entry["name"] = recording.text(site.name);
      entry["thread"] = sum.thread;
      entry["ranges"] = sum.ranges;
      entry["begin"] = sum.begin;
      entry["end"] = sum.end;
      entry["self"] = sum.self;
      rows.append(entry.done());
    }
    return rows;
  }

  py::list candidates(std::uint32_t loop_thread) {
    candidates_ = without_lock([&] { return reader::find_candidates(nested(), loop_thread); });
    rows_.clear();
    py::list rows;
    for (const reader::LoopCandidate& one : candidates_.all) {
      NewResult entry("LoopCandidate");
      entry["group"] = one.group;
      entry["ranges"] = one.ranges;
      entry["all_ranges"] = one.all_ranges;
      entry["thread"] = one.thread;
      entry["total"] = one.total;
      entry["coverage"] = one.coverage;
      entry["extent"] = one.extent;
      entry["parts"] = one.parts;
      entry["overlapping"] = one.is_overlapping;
      entry["recursive"] = one.is_recursive;
      entry["tiny"] = one.is_tiny;
      rows.append(entry.done());
    }
    return rows;
  }

  py::object inside(std::size_t inner, std::size_t outer) {
    const reader::LoopCandidate &in = candidate(inner), &out = candidate(outer);
    reader::LoopInside found;
    // Ranges of a pool of threads overlap, and nest in each thread.
    const auto nests = [](const reader::LoopCandidate& of) {
      return !of.is_overlapping || !of.floats;
    };
    if (nests(in) && nests(out)) {
      const auto known = reader::inside_by_groups(nested(), candidates_.places, in, out);
      found = known ? *known
                    : reader::inside_by_rows(nested(), rows_of(inner), rows_of(outer), out.thread);
    }
    NewResult result("LoopInside");
    result["contained"] = found.contained;
    result["rounds"] = found.rounds;
    result["time"] = found.time;
    return result.done();
  }
  bool is_regular(std::size_t place) { return reader::is_regular(nested(), rows_of(place)); }
  bool are_siblings(std::size_t place) { return reader::are_siblings(nested(), rows_of(place)); }

  std::unique_ptr<LoopStepsObject> steps(std::size_t place) {
    return made(reader::steps_of(nested(), rows_of(place)));
  }
  // `within`: a candidate, -1 for none.
  py::object cycle(std::uint32_t thread, std::int64_t within) {
    if (thread >= nested().of_threads.size()) return py::none();
    const reader::RangeRows* const around =
        within < 0 ? nullptr : &rows_of(static_cast<std::size_t>(within));
    auto found = without_lock([&] { return reader::find_cycle(nested(), thread, around); });
    if (!found) return py::none();
    return py::make_tuple(found->groups, made(std::move(found->steps)));
  }
  std::unique_ptr<LoopStepsObject> whole(std::uint32_t thread) const {
    return made(reader::whole_of(nested(), thread));
  }

  py::list self_times(std::uint32_t thread, std::size_t most) const {
    if (thread >= nested().of_threads.size()) return py::list();
    const reader::Recording& recording = *shared_->recording;
    py::list rows;
    for (const reader::GroupSum& sum : reader::largest_self_times(nested(), thread, most)) {
      const reader::LoopGroup& group = ranges().groups[sum.group];
      NewResult entry("LoopSelf");
      entry["name"] = group.label;
      const std::int32_t domain = recording.domains()[group.domain];
      if (domain >= 0) entry["domain"] = recording.text(domain);
      entry["calls"] = sum.ranges;
      entry["self"] = sum.time;
      entry["still_open"] = false;
      rows.append(entry.done());
    }
    return rows;
  }
  py::list tiny(std::size_t most) const {
    py::list rows;
    for (const reader::GroupSum& sum : reader::most_frequent(nested(), most)) {
      NewResult entry("LoopTiny");
      entry["name"] = shared_->label(sum.group);
      entry["ranges"] = sum.ranges;
      entry["median"] = sum.time;
      entry["group"] = sum.group;
      entry["registered"] = ranges().groups[sum.group].is_registered;
      rows.append(entry.done());
    }
    return rows;
  }

 private:
  const LoopRanges& ranges() const { return shared_->ranges; }
  const LoopRanges& nested() const {
    if (!shared_->is_nested) throw py::value_error("they are not nested yet");
    return shared_->ranges;
  }
  const reader::LoopCandidate& candidate(std::size_t place) const {
    if (place >= candidates_.all.size()) throw py::index_error();
    return candidates_.all[place];
  }
  // Kept, as a candidate that is looked at once is looked at again.
  const reader::RangeRows& rows_of(std::size_t place) {
    const auto found = rows_.find(place);
    if (found != rows_.end()) return found->second;
    return rows_.emplace(place, reader::rows_of(nested(), candidate(place))).first->second;
  }
  std::unique_ptr<LoopStepsObject> made(reader::LoopSteps steps) const {
    return std::make_unique<LoopStepsObject>(shared_, std::move(steps));
  }

  std::shared_ptr<LoopShared> shared_;
  reader::LoopCandidates candidates_;
  std::map<std::size_t, reader::RangeRows> rows_;  // by candidate
};

}  // namespace

void bind_loops(py::module_& module) {
  py::class_<LoopsObject> loops(module, "Loops");
  loops.def(py::init<const RecordingHandle&>())
      .def_property_readonly("has_device_ranges", &LoopsObject::has_device_ranges)
      .def_property_readonly("begin", &LoopsObject::begin)
      .def_property_readonly("end", &LoopsObject::end);
  Methods(loops)
      .def("names", &LoopsObject::names)
      .def("nest", &LoopsObject::nest)
      .def("threads", &LoopsObject::threads)
      .def("still_open", &LoopsObject::still_open)
      .def("candidates", &LoopsObject::candidates)
      .def("inside", &LoopsObject::inside)
      .def("is_regular", &LoopsObject::is_regular)
      .def("are_siblings", &LoopsObject::are_siblings)
      .def("steps", &LoopsObject::steps)
      .def("cycle", &LoopsObject::cycle)
      .def("whole", &LoopsObject::whole)
      .def("self_times", &LoopsObject::self_times)
      .def("tiny", &LoopsObject::tiny);
}

}  // namespace nvspan::bindings
