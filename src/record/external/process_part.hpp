// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One process of an external recording: its threads, what their events refer to by number, and its
// part of the file.

#pragma once

#include "core/text/text_table.hpp"
#include "record/external/lane.hpp"
#include "record/external/section_file.hpp"
#include "record/file/format.hpp"
#include "record/file/work_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::record {

struct SchemaField {
  std::uint32_t name = no_string;
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t detail = 0;
  std::uint64_t offset = 0;
  std::uint32_t unit = no_string;
};
struct SchemaLayout {
  std::uint32_t name = no_string;
  std::uint64_t size = 0;
  std::uint64_t type = 0;
  std::vector<SchemaField> fields;
};
struct GivenMeaning {
  std::uint32_t unit = no_string;
  std::uint32_t description = no_string;
  std::uint64_t schema = 0;
};

// Texts are numbers of the table that all processes of a file share.
class ProcessPart {
 public:
  ProcessPart(const FileHeader& header, std::int64_t unix_offset)
      : header_(header), unix_offset_(unix_offset) {}

  std::uint32_t add_thread(std::uint32_t tid, std::uint32_t name);
  void name_thread(std::uint32_t thread, std::uint32_t name) { threads_[thread].name = name; }
  void set_command(std::string_view only);
  void set_unix_offset(std::int64_t offset) { unix_offset_ = offset; }
  void set_rank(std::int32_t rank, std::int32_t world_size) {
    header_.rank = rank;
    header_.world_size = world_size;
  }
  std::uint32_t domain(std::uint32_t name);
  void name_domain(std::uint32_t domain, std::uint32_t name) { domains_[domain] = name; }
  // `site` without its id.
  std::uint32_t site(const SiteDefinition& site);
  // What is like another site, and has a shape.
  std::uint32_t shaped_site(std::uint32_t site, const LaunchShape& shape);
  std::uint32_t add_counter(std::uint32_t domain, std::uint32_t name, const GivenMeaning& meaning);
  void category(std::uint32_t domain, std::uint32_t number, std::uint32_t name);
  void device_name(DeviceNameKind what, std::uint64_t handle, std::uint32_t name);
  void gpu(const GpuLimitsDefinition& limits) { gpus_[limits.device] = limits; }
  void schema(std::uint32_t domain, std::uint64_t id, SchemaLayout layout) {
    schemas_.push_back(Schema{domain, id, std::move(layout)});
  }
  // As a program had them, by its own ids.
  void enumeration(const EnumDefinition& definition, std::vector<EnumValueDefinition> values) {
    enums_.push_back(Enumeration{definition, std::move(values)});
  }
  void cite(std::uint64_t handle, std::uint32_t text) { cited_[handle] = text; }
  void device_layout(const DeviceLayoutDefinition& layout) { layouts_.push_back(layout); }

  std::size_t threads() const noexcept { return threads_.size(); }
  EventLane& lane(std::uint32_t thread) noexcept { return threads_[thread].lane; }
  // Pushes and pops that were given one by one.
  EventLane& loose(std::uint32_t thread) noexcept { return threads_[thread].loose; }

  // Makes ranges of the loose pushes and pops. A pop that finds none becomes the end of a range
  // that nobody began, which readers count.
  void pair_loose(SpillFile& spill, std::uint64_t& next_id);
  // What the parts of a file have in common.
  struct Output {
    int fd;
    const core::TextTable& texts;
    SpillFile& spill;
    std::uint64_t& next_id;
    std::uint64_t& overlapping;
  };
  // Writes all of it. Returns where it ends in the file.
  std::uint64_t write(const Output& output, std::uint64_t begin);

 private:
  struct Thread {
    std::uint32_t tid;
    std::uint32_t name = no_string;
    EventLane lane;
    EventLane loose;
    std::uint64_t first = 0;  // ticks
    std::uint64_t last = 0;
  };
  struct Schema {
    std::uint32_t domain;
    std::uint64_t id;
    SchemaLayout layout;
  };
  struct Enumeration {
    EnumDefinition definition;
    std::vector<EnumValueDefinition> values;  // texts by number
  };
  class Definitions;

  void define_all(SectionFile& file, const core::TextTable& texts) const;

  FileHeader header_;
  std::int64_t unix_offset_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> domains_;  // names
  std::vector<SiteDefinition> sites_;
  std::unordered_map<SiteDefinition, std::uint32_t, SiteHash, SameSite> site_ids_;
  std::vector<std::uint32_t> domain_of_site_;
  using ShapedSite = std::pair<std::uint32_t, std::array<std::uint32_t, 9>>;
  std::map<ShapedSite, std::uint32_t> shaped_sites_;
  std::vector<LaunchShapeDefinition> shapes_;
  std::vector<std::pair<CounterDefinition, GivenMeaning>> counters_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> categories_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> device_names_;
  std::map<std::uint32_t, GpuLimitsDefinition> gpus_;  // by device
  std::vector<Schema> schemas_;
  std::vector<Enumeration> enums_;
  std::map<std::uint64_t, std::uint32_t> cited_;
  std::vector<DeviceLayoutDefinition> layouts_;
};

}  // namespace nvspan::record
