// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/definitions/definition_writer.hpp"
#include "record/file/work_format.hpp"
#include "record/thread/entry_writer.hpp"
#include "record/writer/deferred_lane.hpp"
#include "record/writer/memory_marks.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// A piece of a GPU's work. Times are ticks.
struct GpuWork {
  WorkKind kind = WorkKind::kernel;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t correlation = 0;
  WorkPlace place;
  std::uint64_t bytes = 0;  // of a copy or set
  std::uint32_t node = 0;   // of a graph, which was defined; 0: none is known
};

// A call that launched work, or may have.
struct LaunchCall {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t correlation = 0;
};

// What GPUs did, and the calls that made them do it.
class WorkLane {
 public:
  WorkLane(RecordingFile& file, DefinitionWriter& definitions, EntryWriter& entries,
           DeferredLane& lane)
      : file_(file), definitions_(definitions), entries_(entries), lane_(lane) {}

  // Sites are those of one file. no_site: there is no space for it.
  std::uint32_t call_site(std::string_view name);
  std::uint32_t work_site(WorkKind kind, std::string_view name);
  // One more for each call: who calls it keeps what it answers.
  std::uint32_t kernel_site(std::string_view name, const LaunchShape& shape);

  // Of the thread whose writer it is.
  void call(ThreadWriter& thread, std::uint32_t site, const LaunchCall& call);
  void work(std::uint32_t site, const GpuWork& work);
  void memory(std::string_view name, const MemoryUse& use, std::uint64_t ticks);
  void graph_node(const GraphNodeDefinition& node);
  void gpu(GpuLimitsDefinition limits, std::string_view name);
  // Work that is not in the recording; `since`: ticks, by which the last one before was there.
  void lose(LossReason reason, std::uint64_t count, std::uint64_t since);
  // From now on no work is taken: it goes on until the next one begins, or ends.
  void begin_gap(GapReason reason);
  void end_gap(std::uint64_t now);  // ticks
  void forget() noexcept;           // for another file

 private:
  std::uint32_t site(std::uint64_t domain, std::string_view domain_name, std::string_view name,
                     const trace::Event& event, std::uint8_t device,
                     const LaunchShape* shape = nullptr);

  bool add_gap(const WorkGapDefinition& gap);

  // A program that profiles itself all the time has ever more of them. The last one does not end.
  static constexpr unsigned most_gaps = 4096;

  RecordingFile& file_;
  DefinitionWriter& definitions_;
  EntryWriter& entries_;
  DeferredLane& lane_;
  WorkGapDefinition gap_ = {};  // that goes on; `from` 0: none
  unsigned gaps_ = 0;
};

}  // namespace nvspan::record
