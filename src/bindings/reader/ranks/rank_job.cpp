// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/ranks/rank_job.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/column.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "ranks/cause/blame.hpp"
#include "ranks/cause/critical_path.hpp"
#include "ranks/cause/job.hpp"
#include "ranks/cause/replay.hpp"
#include "ranks/cause/stand_out.hpp"
#include "ranks/extract/extract.hpp"
#include "ranks/traces/trace.hpp"

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using Integers = std::vector<std::int64_t>;

py::object standings_of(const ranks::Standings& found) {
  std::vector<double> means, errors, chances;
  std::vector<bool> stands;
  for (const ranks::Standing& rank : found.ranks) {
    means.push_back(rank.mean);
    errors.push_back(rank.error);
    chances.push_back(rank.chance);
    stands.push_back(rank.stands);
  }
  NewResult result("Standings");
  result["mean"] = means;
  result["error"] = errors;
  result["chance"] = chances;
  result["stands"] = stands;
  result["block"] = found.block;
  result["blocks"] = found.blocks;
  result["needed"] = found.needed;
  result["half"] = found.half;
  return result.done();
}

// Files are added, then the job is analysed, once.
class RankJob {
 public:
  // Adds what rank_traces() returned: how many processes have collectives or steps.
  std::size_t add_traces(const py::bytes& given) {
    if (replay_ != nullptr) throw py::value_error("the job is analysed already");
    const std::string_view bytes = given;
    const released_gil released;
    std::vector<ranks::RankTrace> traces = ranks::unpacked_traces(bytes, texts_);
    for (ranks::RankTrace& trace : traces) job_.ranks.push_back(std::move(trace));
    return traces.size();
  }

  std::size_t rank_count() const { return job_.ranks.size(); }
  py::list hosts() const {
    py::list names;
    for (const ranks::RankTrace& trace : job_.ranks) names.append(text_of(trace.host));
    return names;
  }
  py::list boot_ids() const {
    py::list ids;
    for (const ranks::RankTrace& trace : job_.ranks) ids.append(text_of(trace.boot_id));
    return ids;
  }

  // `priors`, for each rank: the least and the largest offset of its clock, in ns, or a list of
  // what was measured of it, each when, the least and the largest, or None.
  void analyse(const py::list& priors, std::uint32_t reference, double window, double steepest,
               double wander) {
    if (replay_ != nullptr) throw py::value_error("the job is analysed already");
    std::vector<ranks::Prior> given;
    for (const auto& prior : priors) {
      ranks::Prior& one = given.emplace_back();
      if (prior.is_none()) continue;
      if (py::isinstance<py::list>(prior)) {
        for (const auto& each : prior) {
          ranks::MeasuredOffset& offset = one.measured.emplace_back();
          std::tie(offset.at, offset.low, offset.high) =
              each.cast<std::tuple<std::int64_t, std::int64_t, std::int64_t>>();
        }
        continue;
      }
      std::tie(one.low, one.high) = prior.cast<std::pair<std::int64_t, std::int64_t>>();
    }
    if (!given.empty() && given.size() != job_.ranks.size()) {
      throw py::value_error("there must be a prior for each rank");
    }
    const released_gil released;
    ranks::ClockOptions options;
    options.reference = reference;
    options.window = window;
    options.steepest = steepest;
    options.wander = wander;
    for (std::size_t i = 0; i < texts_.size(); ++i) job_.texts.push_back(texts_[i]);
    ranks::match(job_, given, options);
    blame_ = ranks::find_blame(job_);
    replay_ = std::make_unique<ranks::Replay>(job_);
  }

  py::list rank_rows() const {
    const Integers contradictions = count_contradictions();
    py::list rows;
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      const ranks::RankTrace& trace = job_.ranks[r];
      const ranks::RankSums& sums = blame_.ranks[r];
      NewResult row("Rank");
      row["rank"] = trace.rank < 0 ? static_cast<std::int64_t>(r) : trace.rank;
      row["host"] = text_of(trace.host);
      row["path"] = text_of(trace.path);
      row["waited"] = sums.waited;
      row["late"] = sums.late;
      row["was_last"] = sums.was_last;
      row["collectives"] = sums.collectives;
      const auto middle = trace.start + (trace.end - trace.start) / 2;
      const ranks::Moment moment = job_.moment(static_cast<std::uint32_t>(r), middle);
      if (moment.known()) row["uncertainty"] = moment.uncertainty();
      row["contradictions"] = contradictions[job_.clock[r]];
      row["gpu"] = trace.device;
      std::int64_t bytes = 0;
      for (const ranks::Collective& each : trace.collectives) {
        bytes += std::max<std::int64_t>(0, each.bytes);
      }
      row["bytes"] = bytes;
      if (sums.talked != 0) {
        const auto blocked = static_cast<double>(sums.blocked);
        row["overlap"] = std::max(0.0, 1 - blocked / static_cast<double>(sums.talked));
      }
      row["roots"] = py::dict();
      rows.append(row.done());
    }
    return rows;
  }

  py::dict collectives() const {
    const std::size_t count = job_.collectives.size();
    std::map<std::string, Integers> columns;
    const auto add = [&](const char* name, auto&& value) {
      Integers& values = columns[name];
      values.reserve(count);
      for (std::size_t k = 0; k < count; ++k) values.push_back(value(job_.collectives[k], k));
    };
    using ranks::Matched;
    const auto outcome = [&](std::size_t k) -> const ranks::CollectiveOutcome& {
      return blame_.outcomes[k];
    };
    add("op", [](const Matched& of, std::size_t) { return std::int64_t{of.op}; });
    add("group",
        [](const Matched& of, std::size_t) { return static_cast<std::int64_t>(of.group); });
    add("sequence", [](const Matched& of, std::size_t) { return of.sequence; });
    add("step", [](const Matched& of, std::size_t) { return std::int64_t{of.step}; });
    add("members", [](const Matched& of, std::size_t) {
      return static_cast<std::int64_t>(of.members.size());
    });
    add("bytes", [&](const Matched& of, std::size_t) { return job_.at(of.members[0]).bytes; });
    add("whole", [](const Matched& of, std::size_t) { return std::int64_t{of.whole}; });
    add("differs", [](const Matched& of, std::size_t) { return std::int64_t{of.differs}; });
    add("enqueued", [](const Matched& of, std::size_t) { return std::int64_t{of.enqueued}; });
    add("last", [&](const Matched&, std::size_t k) {
      return outcome(k).last == ranks::CollectiveOutcome::nobody ? -1
                                                                 : std::int64_t{outcome(k).last};
    });
    add("released", [&](const Matched&, std::size_t k) { return outcome(k).released; });
    add("delay", [&](const Matched&, std::size_t k) { return outcome(k).delay; });
    add("uncertainty", [&](const Matched&, std::size_t k) { return outcome(k).uncertainty; });
    add("waited", [&](const Matched&, std::size_t k) { return outcome(k).waited; });
    return views(columns);
  }

  // Of each rank of these collectives: when it came and went, and how long it waited. The least
  // integer stands for what is not known.
  py::dict arrivals(const std::vector<std::size_t>& chosen) const {
    std::map<std::string, Integers> columns;
    for (const char* name : {"rank", "arrived", "left", "waited", "uncertainty"}) columns[name];
    for (const std::size_t k : chosen) {
      for (const ranks::Arrival& each : ranks::arrivals(job_, job_.collectives.at(k))) {
        columns["rank"].push_back(each.rank);
        columns["arrived"].push_back(each.come);
        columns["left"].push_back(each.gone);
        columns["waited"].push_back(each.waited);
        columns["uncertainty"].push_back(each.uncertainty);
      }
    }
    return views(columns);
  }

  // What delays came from: a row for each collective, rank and range.
  py::dict roots() const {
    std::map<std::string, Integers> columns;
    for (const char* name : {"collective", "rank", "name", "ns"}) columns[name];
    for (std::size_t k = 0; k < blame_.outcomes.size(); ++k) {
      for (const ranks::Root& root : blame_.outcomes[k].roots) {
        columns["collective"].push_back(static_cast<std::int64_t>(k));
        columns["rank"].push_back(root.rank);
        columns["name"].push_back(root.name);
        columns["ns"].push_back(static_cast<std::int64_t>(root.ns));
      }
    }
    return views(columns);
  }

  // Of each rank and range: the time in it and in none inside it, without waiting.
  py::dict work() const {
    std::map<std::string, Integers> columns;
    for (const char* name : {"rank", "name", "ns"}) columns[name];
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      std::map<std::int32_t, std::int64_t> sums;
      for (const ranks::Part& part : job_.ranks[r].parts) sums[part.name] += part.ns;
      for (const auto& sum : sums) {
        columns["rank"].push_back(static_cast<std::int64_t>(r));
        columns["name"].push_back(sum.first);
        columns["ns"].push_back(sum.second);
      }
    }
    return views(columns);
  }

  py::object critical_path() const {
    std::map<std::string, Integers> columns;
    for (const char* name : {"rank", "name", "ns"}) columns[name];
    const ranks::CriticalPath path = ranks::critical_path(job_, blame_);
    for (const auto& part : path.work) {
      columns["rank"].push_back(part.first.first);
      columns["name"].push_back(part.first.second);
      columns["ns"].push_back(part.second);
    }
    NewResult result("CriticalPath");
    result["columns"] = views(columns);
    result["collectives"] = path.collectives;
    result["duration"] = path.duration;
    return result.done();
  }

  py::object counts() const {
    NewResult result("JobCounts");
    result["alone"] = job_.alone;
    result["absent"] = job_.absent;
    result["uncertain"] = blame_.uncertain;
    result["clocks"] = job_.clocks;
    result["contradictions"] = job_.solved.contradictions.size();
    return result.done();
  }

  std::vector<std::int64_t> steps() const { return job_.steps; }
  py::object text(std::size_t number) const { return text_of(job_.texts.at(number)); }
  const std::vector<double>& step_times() const { return replay().step_times(); }
  const std::vector<float>& late(std::size_t rank) const { return blame_.late.at(rank); }
  const std::vector<float>& excess(std::size_t rank) const { return blame_.excess.at(rank); }
  // What the rank's steps took in ns, by the places of steps(); 0: it has no such step.
  std::vector<float> durations(std::size_t rank) const {
    std::vector<float> taken(job_.steps.size(), 0);
    std::size_t next = 0;  // steps come in the same order on all ranks, but for a few
    for (const ranks::Step& step : job_.ranks.at(rank).steps) {
      if (next >= taken.size() || job_.steps[next] != step.number) {
        const auto found = std::find(job_.steps.begin(), job_.steps.end(), step.number);
        if (found == job_.steps.end()) continue;
        next = static_cast<std::size_t>(found - job_.steps.begin());
      }
      taken[next++] += static_cast<float>(step.end - step.start);
    }
    return taken;
  }
  // `name`: of texts; -1: all that the rank does.
  std::vector<double> savings(std::size_t rank, std::int32_t name) {
    if (rank >= job_.ranks.size()) throw py::index_error("no such rank");
    const released_gil released;
    return replay().savings(static_cast<std::uint32_t>(rank), name);
  }
  std::vector<double> losses(std::size_t rank, double ns) {
    if (rank >= job_.ranks.size()) throw py::index_error("no such rank");
    const released_gil released;
    return replay().losses(static_cast<std::uint32_t>(rank), ns);
  }
  // For each part, which is the places of its steps and an alpha: by rank, in these steps.
  py::list stand_out(
      std::int32_t name,
      const std::vector<std::pair<std::vector<std::uint32_t>, double>>& parts) const {
    for (const auto& part : parts) {
      for (const std::uint32_t step : part.first) {
        if (step >= job_.steps.size()) throw py::index_error("no such step");
      }
    }
    std::vector<ranks::Standings> found;
    {
      const released_gil released;
      const ranks::Series excess = ranks::excess_by_step(job_, name);
      for (const auto& part : parts) {
        found.push_back(ranks::stand_out(excess, part.first, part.second));
      }
    }
    py::list standings;
    for (const ranks::Standings& each : found) standings.append(standings_of(each));
    return standings;
  }
  // By step.
  std::vector<float> excess_of(std::size_t rank, std::int32_t name) const {
    if (rank >= job_.ranks.size()) throw py::index_error("no such rank");
    const released_gil released;
    return ranks::excess_by_step(job_, name, static_cast<std::uint32_t>(rank));
  }

 private:
  static py::dict views(std::map<std::string, Integers>& columns) {
    py::dict result;
    for (auto& column : columns) result[column.first.c_str()] = view_of(std::move(column.second));
    return result;
  }
  Integers count_contradictions() const {
    Integers counts(job_.clocks, 0);
    for (const auto& each : job_.solved.contradictions) ++counts[each.clock];
    return counts;
  }
  ranks::Replay& replay() const {
    if (replay_ == nullptr) throw py::value_error("the job is not analysed yet");
    return *replay_;
  }

  core::TextTable texts_;
  ranks::Job job_;
  ranks::Blame blame_;
  std::unique_ptr<ranks::Replay> replay_;
};

// `step_names`: pairs of numbers, of a domain and a name; `steps`: thread, start and end of each.
// `path`, where it is not empty, is what the file is called in place of its own path.
py::bytes rank_traces(
    const RecordingHandle& handle, const std::vector<std::string>& domains,
    const std::vector<std::string>& enqueued,
    const std::set<std::pair<std::uint32_t, std::int32_t>>& step_names,
    const std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t>>& steps,
    const std::string& path) {
  ranks::ExtractOptions options{domains, enqueued, step_names, {}};
  for (const auto& [thread, start, end] : steps) {
    if (thread >= handle.recording->threads().size()) throw py::index_error();
    options.steps.push_back(ranks::LoopStep{thread, start, end});
  }
  std::string bytes;
  {
    const released_gil released;
    core::TextTable texts;
    std::vector<ranks::RankTrace> traces = ranks::extract(*handle.recording, options, texts);
    for (ranks::RankTrace& trace : traces) {
      if (!path.empty()) trace.path = path;
    }
    if (!traces.empty()) bytes = ranks::packed_traces(traces, texts);
  }
  return bytes;
}

}  // namespace

void bind_rank_job(py::module_& module) {
  const ranks::ClockOptions defaults;
  Methods functions(module);
  functions.def("rank_traces", &rank_traces, py::arg("handle"), py::arg("domains"),
                py::arg("enqueued"), py::arg("step_names"), py::arg("steps"), py::arg("path") = "");
  Methods(py::class_<RankJob>(module, "RankJob").def(py::init<>()))
      .def("add_traces", &RankJob::add_traces)
      .def("rank_count", &RankJob::rank_count)
      .def("hosts", &RankJob::hosts)
      .def("boot_ids", &RankJob::boot_ids)
      .def("analyse", &RankJob::analyse, py::arg("priors") = py::list(), py::arg("reference") = 0,
           py::arg("window") = defaults.window, py::arg("steepest") = defaults.steepest,
           py::arg("wander") = defaults.wander)
      .def("rank_rows", &RankJob::rank_rows)
      .def("collectives", &RankJob::collectives)
      .def("arrivals", &RankJob::arrivals)
      .def("roots", &RankJob::roots)
      .def("work", &RankJob::work)
      .def("critical_path", &RankJob::critical_path)
      .def("counts", &RankJob::counts)
      .def("steps", &RankJob::steps)
      .def("text", &RankJob::text)
      .def("step_times", &RankJob::step_times)
      .def("late", &RankJob::late)
      .def("excess", &RankJob::excess)
      .def("durations", &RankJob::durations)
      .def("savings", &RankJob::savings)
      .def("stand_out", &RankJob::stand_out)
      .def("losses", &RankJob::losses)
      .def("excess_of", &RankJob::excess_of);
  functions.def("stand_out", [](const ranks::Series& excess, double alpha) {
    std::vector<std::uint32_t> chosen;
    for (const std::vector<float>& of_rank : excess) {
      if (of_rank.size() != excess[0].size()) throw py::value_error("ranks differ in their steps");
    }
    for (std::uint32_t i = 0; !excess.empty() && i < excess[0].size(); ++i) chosen.push_back(i);
    return standings_of(ranks::stand_out(excess, chosen, alpha));
  });
}

}  // namespace nvspan::bindings
