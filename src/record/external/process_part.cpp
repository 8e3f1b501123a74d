// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/process_part.hpp"

#include "record/external/nesting.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {

std::uint32_t ProcessPart::add_thread(std::uint32_t tid, std::uint32_t name) {
  threads_.push_back(Thread{tid, name, {}, {}});
  return static_cast<std::uint32_t>(threads_.size() - 1);
}

void ProcessPart::set_command(std::string_view only) {
  const std::size_t size = std::min(only.size(), sizeof header_.command - 1);
  std::memset(header_.command, 0, sizeof header_.command);
  std::memcpy(header_.command, only.data(), size);
  header_.command_bytes = static_cast<std::uint32_t>(size + 1);
}

std::uint32_t ProcessPart::domain(std::uint32_t name) {
  const auto found = std::find(domains_.begin(), domains_.end(), name);
  if (found != domains_.end()) return static_cast<std::uint32_t>(found - domains_.begin());
  domains_.push_back(name);
  return static_cast<std::uint32_t>(domains_.size() - 1);
}

std::uint32_t ProcessPart::site(const SiteDefinition& site) {
  const auto next = static_cast<std::uint32_t>(sites_.size());
  const auto entry = site_ids_.emplace(site, next);
  if (!entry.second) return entry.first->second;
  sites_.push_back(site);
  sites_.back().id = next;
  domain_of_site_.push_back(site.domain);
  return next;
}

std::uint32_t ProcessPart::shaped_site(std::uint32_t site, const LaunchShape& shape) {
  ShapedSite key{site, {}};
  static_assert(sizeof key.second == sizeof shape);
  std::memcpy(key.second.data(), &shape, sizeof shape);
  const auto next = static_cast<std::uint32_t>(sites_.size());
  const auto [found, is_new] = shaped_sites_.try_emplace(key, next);
  if (!is_new) return found->second;
  sites_.push_back(sites_[site]);
  sites_.back().id = next;
  domain_of_site_.push_back(domain_of_site_[site]);
  shapes_.push_back(LaunchShapeDefinition{next, shape});
  return next;
}

std::uint32_t ProcessPart::add_counter(std::uint32_t domain, std::uint32_t name,
                                       const GivenMeaning& meaning) {
  const auto id = static_cast<std::uint32_t>(counters_.size());
  counters_.emplace_back(CounterDefinition{id, domain, id + std::uint64_t{1}, name, 0}, meaning);
  return id;
}

void ProcessPart::category(std::uint32_t domain, std::uint32_t number, std::uint32_t name) {
  categories_[{domain, number}] = name;
}

void ProcessPart::device_name(DeviceNameKind what, std::uint64_t handle, std::uint32_t name) {
  device_names_[{static_cast<std::uint32_t>(what), handle}] = name;
}

void ProcessPart::pair_loose(SpillFile& spill, std::uint64_t& next_id) {
  struct Push {
    std::uint64_t time;
    std::uint32_t site;
    std::vector<std::uint64_t> payload;
  };
  for (Thread& thread : threads_) {
    if (thread.loose.is_empty()) continue;
    std::map<std::uint32_t, std::vector<Push>> open;  // by domain
    const auto add = [&](const Push& push, std::uint64_t end) {
      std::uint64_t* to =
          thread.lane.add(push.time, end, LaneEvent::range, push.site, push.payload.size());
      std::copy(push.payload.begin(), push.payload.end(), to);
      constexpr std::uint64_t most_held = 64'000'000;  // bytes
      if (thread.lane.bytes() > most_held) thread.lane.spill(spill);
    };
    thread.loose.for_each(spill, [&](const LaneRecord& record) {
      if (record.event() == LaneEvent::push) {
        open[domain_of_site_[record.subject()]].push_back(
            Push{record.time(),
                 record.subject(),
                 {record.payload(), record.payload() + record.payload_words()}});
        return;
      }
      std::vector<Push>& stack = open[record.subject()];
      if (stack.empty()) {
        thread.lane.add(record.time(), next_id++, LaneEvent::end, record.subject());
        return;
      }
      add(stack.back(), record.time());
      stack.pop_back();
    });
    for (const auto& stack : open) {
      for (const Push& push : stack.second) add(push, never_ended);
    }
    thread.loose.clear();
  }
}

// A section's own numbers of texts: readers refuse one that is larger than the section is long.
class ProcessPart::Definitions {
 public:
  Definitions(SectionFile& file, const core::TextTable& texts)
      : file_(file), texts_(texts), ids_(texts.size(), no_string) {}

  std::uint32_t text(std::uint32_t number) {
    if (number == no_string) return no_string;
    std::uint32_t& id = ids_[number];
    if (id == no_string) {
      id = next_++;
      file_.define(DefinitionType::string, StringDefinition{id, 0}, texts_[number]);
    }
    return id;
  }

 private:
  SectionFile& file_;
  const core::TextTable& texts_;
  std::vector<std::uint32_t> ids_;
  std::uint32_t next_ = 0;
};

void ProcessPart::define_all(SectionFile& file, const core::TextTable& texts) const {
  Definitions definitions(file, texts);
  const std::uint64_t began = header_.first.ticks;
  for (std::uint32_t i = 0; i < domains_.size(); ++i) {
    file.define(DefinitionType::domain, DomainDefinition{i, definitions.text(domains_[i])});
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    file.define(DefinitionType::thread, ThreadDefinition{i, thread.tid, thread.first});
    if (thread.name == no_string) continue;
    const std::uint32_t name = definitions.text(thread.name);
    file.define(DefinitionType::thread_name, ThreadName{thread.tid, name, thread.first});
  }
  for (const auto& [of, name] : categories_) {
    const std::uint32_t text = definitions.text(name);
    file.define(DefinitionType::category, CategoryDefinition{of.first, of.second, text, 0});
  }
  for (const auto& [of, name] : device_names_) {
    const std::uint32_t text = definitions.text(name);
    file.define(DefinitionType::device_name,
                DeviceNameDefinition{of.second, began, of.first, text});
  }
  for (const auto& [device, limits] : gpus_) {
    GpuLimitsDefinition written = limits;
    written.name = definitions.text(limits.name);
    file.define(DefinitionType::gpu_limits, written);
  }
  for (const Schema& schema : schemas_) {
    std::vector<SchemaEntryDefinition> entries;
    for (const SchemaField& field : schema.layout.fields) {
      SchemaEntryDefinition entry = {};
      entry.flags = field.flags;
      entry.type = field.type;
      entry.detail = field.detail;
      entry.offset = field.offset;
      entry.name = definitions.text(field.name);
      entry.meaning.unit = definitions.text(field.unit);
      entries.push_back(entry);
    }
    SchemaDefinition definition = {};
    definition.schema = schema.id;
    definition.type = schema.layout.type;
    definition.size = schema.layout.size;
    definition.domain = schema.domain;
    definition.name = definitions.text(schema.layout.name);
    file.define(DefinitionType::schema, definition,
                std::string_view(reinterpret_cast<const char*>(entries.data()),
                                 entries.size() * sizeof(SchemaEntryDefinition)));
  }
  for (const Enumeration& enumeration : enums_) {
    std::vector<EnumValueDefinition> values = enumeration.values;
    for (EnumValueDefinition& value : values) value.name = definitions.text(value.name);
    EnumDefinition definition = enumeration.definition;
    definition.name = definitions.text(definition.name);
    file.define(DefinitionType::enumeration, definition,
                std::string_view(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(EnumValueDefinition)));
  }
  for (const auto& [handle, text] : cited_) {
    file.define(DefinitionType::cited_string, CitedString{handle, definitions.text(text), 0});
  }
  for (const DeviceLayoutDefinition& layout : layouts_) {
    file.define(DefinitionType::device_layout, layout);
  }
  for (const auto& [counter, meaning] : counters_) {
    CounterDefinition definition = counter;
    definition.name = definitions.text(definition.name);
    file.define(DefinitionType::counter, definition);
    CounterMeaningDefinition about = {};
    about.schema = meaning.schema;
    about.counter = counter.id;
    about.description = definitions.text(meaning.description);
    about.scope_path = no_string;
    about.meaning.unit = definitions.text(meaning.unit);
    file.define(DefinitionType::counter_meaning, about);
  }
  for (SiteDefinition site : sites_) {
    site.message = definitions.text(site.message);
    file.define(DefinitionType::site, site);
  }
  for (const LaunchShapeDefinition& shape : shapes_) {
    file.define(DefinitionType::launch_shape, shape);
  }
  file.end_definitions();
}

std::uint64_t ProcessPart::write(const Output& output, std::uint64_t begin) {
  std::uint64_t first = never_ended;
  std::uint64_t last = 0;
  for (Thread& thread : threads_) {
    thread.first = thread.lane.first_time();
    first = std::min(first, thread.first);
    last = std::max(last, thread.lane.last_end());
  }
  if (first == never_ended) first = last = ticks_of(0);  // there are no events
  for (Thread& thread : threads_) thread.first = std::max(std::min(thread.first, last), first);
  const std::int64_t start = ns_of(first);
  const std::int64_t end = ns_of(last);
  header_.first = ClockSample{first, static_cast<std::uint64_t>(start),
                              static_cast<std::uint64_t>(start + unix_offset_)};
  header_.clock = static_cast<std::uint32_t>(ClockType::given);
  header_.estimated_frequency = 1e9;
  header_.last_sample = 1;
  header_.last[1] = ClockSample{last, static_cast<std::uint64_t>(end),
                                static_cast<std::uint64_t>(end + unix_offset_)};
  header_.last_sums[1] = sample_sum(header_.last[1], header_.last_sample);

  SectionFile file(output.fd, begin);
  define_all(file, output.texts);
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    file.begin_thread(i, threads_[i].tid);
    EntryNesting nesting(file, domain_of_site_, output.next_id);
    threads_[i].lane.for_each(output.spill, [&](const LaneRecord& record) { nesting.add(record); });
    nesting.finish();
    output.overlapping += nesting.overlapping();
    file.end_thread();
    threads_[i].lane.clear();
  }
  return file.finish(header_);
}

}  // namespace nvspan::record
