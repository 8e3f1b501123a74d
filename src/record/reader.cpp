// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/reader.hpp"

#include "record/event.hpp"
#include "record/loading.hpp"
#include "record/schemas.hpp"
#include "record/ticks.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace nvspan {
namespace {

constexpr std::size_t most_problems = 100;
constexpr std::size_t word = sizeof(std::uint64_t);

bool read_words(const std::string& path, std::vector<std::uint64_t>& words, std::size_t& bytes,
                std::string& problem) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    problem = std::strerror(errno);
    return false;
  }
  std::setvbuf(file, nullptr, _IONBF, 0);
  // A recording in progress grows while it is read: its header first, so that what that promises is
  // in the file, then its length, and what is there now counts.
  words.assign(file_header_bytes / word, 0);
  bytes = std::fread(words.data(), 1, file_header_bytes, file);
  bool failed = std::ferror(file) != 0;
  if (!failed && bytes == file_header_bytes) {
    failed = std::fseek(file, 0, SEEK_END) != 0;
    const long size = failed ? 0 : std::ftell(file);
    const std::size_t limit = std::max<std::size_t>(size < 0 ? 0 : size, bytes);
    words.resize(limit / word + 1);
    failed = failed || std::fseek(file, file_header_bytes, SEEK_SET) != 0;
    while (!failed && bytes < limit) {
      const std::size_t count =
          std::fread(reinterpret_cast<char*>(words.data()) + bytes, 1, limit - bytes, file);
      if (count == 0) break;
      bytes += count;
    }
    failed = failed || std::ferror(file) != 0;
  }
  if (failed) problem = std::strerror(errno);
  std::fclose(file);
  words.resize(bytes / word + 1);
  return !failed;
}

bool read_again(const std::string& path, std::uint64_t offset, void* to, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const bool read = std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0 &&
                    std::fread(to, 1, bytes, file) == bytes;
  std::fclose(file);
  return read;
}

template <typename T>
bool take(std::string_view body, T& out) {
  if (body.size() < sizeof(T)) return false;
  body.copy(reinterpret_cast<char*>(&out), sizeof(T));
  return true;
}

}  // namespace

ReadLoss Recording::loss_in(std::uint32_t thread, std::uint64_t from, std::uint64_t to,
                            std::uint64_t count, std::string_view reason) const {
  ReadLoss loss;
  loss.process = threads_[thread].process;
  loss.thread = thread;
  loss.from = processes_[loss.process].time(from);
  loss.to = processes_[loss.process].time(to);
  loss.count = count;
  loss.reason = reason;
  return loss;
}

std::vector<std::string> Recording::problems() const {
  const std::lock_guard<std::mutex> lock(problems_mutex_);
  return problems_;
}

void Recording::add_problem(std::string text) {
  const std::lock_guard<std::mutex> lock(problems_mutex_);
  if (problems_.size() < most_problems) problems_.push_back(std::move(text));
}

bool Recording::add(const std::string& path) {
  std::vector<std::uint64_t> words;
  std::size_t bytes = 0;
  std::string problem;
  FileCheck check;
  // One that is being written may change between the looks at its parts.
  constexpr int most_tries = 5;
  for (int tries = 0; tries < most_tries; ++tries) {
    if (!read_words(path, words, bytes, problem)) {
      std::string line = path;
      line.append(": ").append(problem);
      add_problem(std::move(line));
      return false;
    }
    check = check_file(words, bytes, [&](std::uint64_t offset, void* to, std::size_t size) {
      return read_again(path, offset, to, size);
    });
    if (check.closed) break;
    FileHeader then = {};
    FileHeader now = {};
    std::memcpy(static_cast<void*>(&then), words.data(), sizeof then);
    check.moving = read_again(path, 0, &now, sizeof now) &&
                   (then.last_sample != now.last_sample || then.chunks != now.chunks ||
                    then.in_hand != now.in_hand);
    if (check.is_whole()) break;
  }
  return add(path, std::move(words), bytes, check);
}

bool Recording::add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes) {
  const FileCheck check = check_file(words, bytes, {});
  return add(path, std::move(words), bytes, check);
}

bool Recording::read_header(ReadProcess& process, const std::vector<std::uint64_t>& words,
                            std::size_t bytes) {
  const auto refuse = [&](const char* why) {
    add_problem(process.path + ": " + why);
    return false;
  };
  if (bytes < file_header_bytes) return refuse("too short to be a recording");
  FileHeader& header = process.header;
  std::memcpy(static_cast<void*>(&header), words.data(), sizeof header);
  if (header.magic != file_magic) return refuse("not a recording of nvspan");
  if (header.version > format_version) {
    return refuse("a recording of a newer version of nvspan");
  }
  if (header.version < version_without_checksums || header.header_bytes != file_header_bytes) {
    return refuse("a recording of another version of nvspan");
  }
  header.host[sizeof header.host - 1] = '\0';
  header.boot_id[sizeof header.boot_id - 1] = '\0';
  const std::size_t command = std::min<std::size_t>(header.command_bytes, sizeof header.command);
  std::string argument;
  for (std::size_t i = 0; i < command; ++i) {
    if (header.command[i] != '\0') argument.push_back(header.command[i]);
    if (header.command[i] != '\0' && i + 1 != command) continue;
    process.command.push_back(std::move(argument));
    argument.clear();
  }
  process.closed = (header.flags & file_closed) != 0;
  double frequency = header.estimated_frequency;
  const ClockSample& last = header.last[header.last_sample % 2];
  if (header.last_sample != 0) frequency = frequency_between(header.first, last, frequency);
  if (!(frequency >= 1e6 && frequency <= 1e11)) {
    add_problem(process.path + ": its clock is damaged: times are ticks");
    frequency = 1e9;
  }
  process.ratio = static_cast<std::uint64_t>(std::llround(1e9 / frequency * 4294967296.0));
  if (!processes_.empty()) {
    const FileHeader& base = processes_.front().header;
    if (std::strcmp(base.boot_id, header.boot_id) != 0) {
      // Another machine: by the wall clocks.
      process.offset = static_cast<std::int64_t>(header.first.realtime - header.first.monotonic) -
                       static_cast<std::int64_t>(base.first.realtime - base.first.monotonic);
    }
  }
  process.end = process.time(header.last_sample != 0 ? last.ticks : header.first.ticks);
  return true;
}

void Recording::find_chunks(Loading& loading, const FileCheck& check) {
  for (const ReadChunk& chunk : check.chunks) {
    switch (chunk.type) {
      case ChunkType::definitions:
        loading.definitions.push_back(chunk);
        break;
      case ChunkType::events:
        if (loading.fits(chunk.thread)) {
          thread(loading, chunk.thread, chunk.tid).chunks.push_back(chunk);
        }
        break;
      case ChunkType::stats:
        if (!loading.fits(chunk.thread)) break;
        thread(loading, chunk.thread, chunk.tid);
        if (chunk.state == ChunkState::damaged || chunk.state == ChunkState::cut) {
          loading.lost_stats.push_back(chunk);
        }
        if (chunk.state != ChunkState::damaged) {
          stats_.push_back(ReadStats{loading.index, chunk.thread,
                                     std::vector<std::uint64_t>(chunk.begin, chunk.end)});
        }
        break;
    }
  }
  if (!loading.is_checked() && check.damaged_bytes != 0) {
    add_problem(loading.process.path + ": a damaged chunk was left out");
  }
}

ReadThread& Recording::thread(Loading& loading, std::uint32_t number, std::uint32_t tid) {
  const auto found = loading.threads.find(number);
  if (found != loading.threads.end()) return threads_[found->second];
  loading.threads.emplace(number, static_cast<std::uint32_t>(threads_.size()));
  ReadThread& made = threads_.emplace_back();
  made.process = loading.index;
  made.number = number;
  made.tid = tid;
  return made;
}

void Recording::read_definitions(Loading& loading, const ReadChunk& chunk) {
  if (chunk.state != ChunkState::unchecked && chunk.state != ChunkState::whole) {
    return read_checked_definitions(loading, chunk);
  }
  for (const std::uint64_t* at = chunk.begin; at < chunk.end && *at != 0;) {
    const auto size = static_cast<std::size_t>(*at >> 32);
    const std::size_t words = (size + word - 1) / word;
    if (words > static_cast<std::size_t>(chunk.end - at - 1)) {
      add_problem(loading.process.path + ": a definition is cut off");
      return;
    }
    read_definition(loading, static_cast<DefinitionType>(*at & 0xFF),
                    std::string_view(reinterpret_cast<const char*>(at + 1), size));
    at += 1 + words;
  }
}

void Recording::read_definition(Loading& loading, DefinitionType type, std::string_view body) {
  switch (type) {
    case DefinitionType::string: {
      StringDefinition read = {};
      if (!take(body, read) || !loading.fits(read.id)) return;
      if (read.id >= loading.strings.size()) loading.strings.resize(read.id + 1, no_name);
      loading.strings[read.id] = intern(body.substr(sizeof read));
      return;
    }
    case DefinitionType::domain: {
      DomainDefinition read = {};
      if (!take(body, read) || !loading.fits(read.id)) return;
      if (read.id >= loading.domain_names.size()) loading.domain_names.resize(read.id + 1, no_name);
      loading.domain_names[read.id] = loading.text(read.name);
      return;
    }
    case DefinitionType::site: {
      SiteDefinition read = {};
      if (!take(body, read) || !loading.fits(read.id)) return;
      if (read.id >= loading.sites.size()) {
        SiteDefinition none = {};
        none.id = 0xFFFFFFFF;
        loading.sites.resize(read.id + 1, none);
      }
      loading.sites[read.id] = read;
      return;
    }
    case DefinitionType::category: {
      CategoryDefinition read = {};
      if (!take(body, read)) return;
      loading.categories[{read.domain, read.category}] = loading.text(read.name);
      loading.process.schemas->categories[{read.domain, read.category}] = loading.text(read.name);
      return;
    }
    case DefinitionType::thread: {
      ThreadDefinition read = {};
      if (!take(body, read) || !loading.fits(read.thread)) return;
      ReadThread& made = thread(loading, read.thread, read.tid);
      made.defined = true;
      made.start_ticks = read.ticks;
      made.end_ticks = read.ticks;
      return;
    }
    case DefinitionType::thread_name: {
      ThreadName read = {};
      if (take(body, read)) loading.thread_names.push_back(read);
      return;
    }
    case DefinitionType::counter: {
      CounterDefinition read = {};
      if (!take(body, read) || !loading.fits(read.id)) return;
      if (read.id >= loading.counters.size()) {
        CounterDefinition none = {};
        none.id = 0xFFFFFFFF;
        none.name = no_string;
        loading.counters.resize(read.id + 1, none);
      }
      loading.counters[read.id] = read;
      return;
    }
    case DefinitionType::device_layout: {
      DeviceLayoutDefinition read = {};
      if (!take(body, read)) return;
      DeviceLayout& made = loading.process.device_layouts[{read.domain, read.schema}];
      std::copy(std::begin(read.offsets), std::end(read.offsets), std::begin(made.offsets));
      return;
    }
    case DefinitionType::device_name: {
      DeviceNameDefinition read = {};
      if (!take(body, read)) return;
      const bool device = read.what == static_cast<std::uint32_t>(DeviceNameKind::device);
      auto& names = device ? loading.process.device_names : loading.process.stream_names;
      names[read.handle].push_back(GivenName{read.ticks, loading.text(read.name)});
      return;
    }
    case DefinitionType::schema:
      return read_schema(loading, body);
    case DefinitionType::enumeration:
      return read_enum(loading, body);
    case DefinitionType::scope: {
      ScopeDefinition read = {};
      if (!take(body, read)) return;
      loading.process.schemas->table.add_scope(
          read.domain, read.scope, PayloadScope{read.parent, loading.view(read.path, strings_)});
      return;
    }
    case DefinitionType::cited_string: {
      CitedString read = {};
      if (take(body, read)) loading.process.schemas->strings[read.handle] = loading.text(read.text);
      return;
    }
    case DefinitionType::counter_meaning: {
      CounterMeaningDefinition read = {};
      if (take(body, read)) loading.meanings[read.counter] = read;
      return;
    }
    case DefinitionType::event:
      events_.push_back(ReadEvent{loading.index, body});
      return;
  }
}

CounterUnit Recording::unit_of(const Loading& loading, const MeaningDefinition& read) const {
  CounterUnit made;
  made.unit = loading.view(read.unit, strings_);
  made.flags = read.flags;
  made.scale_numerator = read.scale_numerator;
  made.scale_denominator = read.scale_denominator;
  made.limit_type = read.limit_type;
  made.min_bits = read.min_bits;
  made.max_bits = read.max_bits;
  return made;
}

void Recording::read_schema(Loading& loading, std::string_view body) {
  SchemaDefinition read = {};
  if (!take(body, read)) return;
  body.remove_prefix(sizeof read);
  std::vector<PayloadEntry> entries;
  SchemaEntryDefinition entry = {};
  while (take(body, entry)) {
    body.remove_prefix(sizeof entry);
    PayloadEntry& made = entries.emplace_back();
    made.flags = entry.flags;
    made.type = entry.type;
    made.detail = entry.detail;
    made.offset = entry.offset;
    made.name = loading.view(entry.name, strings_);
    made.unit = unit_of(loading, entry.meaning);
  }
  PayloadSchema made;
  made.id = read.schema;
  made.type = read.type;
  made.flags = read.flags;
  made.size = read.size;
  made.pack = read.pack;
  made.name = loading.view(read.name, strings_);
  made.entries = entries.data();
  made.count = entries.size();
  loading.process.schemas->table.add(read.domain, made);
}

void Recording::read_enum(Loading& loading, std::string_view body) {
  EnumDefinition read = {};
  if (!take(body, read)) return;
  body.remove_prefix(sizeof read);
  std::vector<PayloadEnumValue> values;
  EnumValueDefinition value = {};
  while (take(body, value)) {
    body.remove_prefix(sizeof value);
    values.push_back(
        PayloadEnumValue{loading.view(value.name, strings_), value.value, value.is_flag != 0});
  }
  PayloadEnum made;
  made.id = read.schema;
  made.size = read.size;
  made.name = loading.view(read.name, strings_);
  made.values = values.data();
  made.count = values.size();
  loading.process.schemas->table.add(read.domain, made);
}

void Recording::resolve_counters(Loading& loading) {
  ReadProcess& process = loading.process;
  for (const auto& [number, read] : loading.meanings) {
    if (number >= loading.counters.size()) continue;
    const ReadCounter base = counters_[process.counters[number]];
    const std::int32_t unit = loading.text(read.meaning.unit);
    counters_[process.counters[number]].unit = unit;
    ReadGroup group;
    const auto fields = fields_of_group(process.schemas->table, loading.counters[number].domain,
                                        read.schema, group.size);
    for (const GroupField& field : fields) {
      std::uint32_t of = number;
      if (!field.name.empty()) {
        of = static_cast<std::uint32_t>(process.counters.size());
        process.counters.push_back(static_cast<std::uint32_t>(counters_.size()));
        ReadCounter made = base;
        made.field = intern(field.name);
        made.unit = field.unit.unit.data() == nullptr ? unit : intern(field.unit.unit);
        counters_.push_back(made);
      }
      group.parts.push_back(ReadGroup::Part{of, field.type, field.offset});
    }
    process.groups.emplace(number, std::move(group));
  }
}

// Turns the file's numbers into ours.
void Recording::resolve(Loading& loading) {
  const auto domain_of = [&](std::int32_t name) {
    const auto found = domain_ids_.find(name);
    if (found != domain_ids_.end()) return found->second;
    domains_.push_back(name);
    domain_ids_.emplace(name, static_cast<std::uint32_t>(domains_.size() - 1));
    return static_cast<std::uint32_t>(domains_.size() - 1);
  };
  ReadProcess& process = loading.process;
  if (domains_.empty()) domain_of(no_name);  // for what has no definition
  for (const std::int32_t name : loading.domain_names) process.domains.push_back(domain_of(name));
  const auto global_domain = [&](std::uint32_t local) {
    return local < process.domains.size() ? process.domains[local] : domain_of(no_name);
  };
  for (const SiteDefinition& read : loading.sites) {
    if (read.id == 0xFFFFFFFF) {
      process.sites.push_back(unknown_site);
      continue;
    }
    ReadSite site;
    site.domain = global_domain(read.domain);
    site.local_domain = read.domain;
    site.name = loading.text(read.message);
    site.is_others = read.message_type == message_of_others;
    site.message_type = site.is_others ? static_cast<std::uint8_t>(MessageType::ascii)
                                       : std::min<std::uint8_t>(read.message_type, 3);
    site.payload_type = std::min<std::uint8_t>(read.payload_type, 8);
    site.has_color = read.has_color != 0;
    if (site.payload_type == static_cast<std::uint8_t>(PayloadType::ext)) {
      site.device = std::min<std::uint8_t>(read.device, 1 + 6);  // the last of the plain types
    }
    site.color = read.color;
    site.category = read.category;
    const auto category = loading.categories.find({read.domain, read.category});
    if (category != loading.categories.end()) site.category_name = category->second;
    process.sites.push_back(static_cast<std::uint32_t>(sites_.size()));
    sites_.push_back(site);
  }
  for (const CounterDefinition& read : loading.counters) {
    process.counters.push_back(static_cast<std::uint32_t>(counters_.size()));
    ReadCounter made;
    made.domain = global_domain(read.domain);
    made.name = loading.text(read.name);
    made.id = read.counter;
    counters_.push_back(made);
  }
  resolve_counters(loading);
  for (const auto& entry : loading.threads) {
    ReadThread& thread = threads_[entry.second];
    const bool checked = loading.is_checked();
    std::stable_sort(thread.chunks.begin(), thread.chunks.end(),
                     [&](const ReadChunk& a, const ReadChunk& b) {
                       return checked ? a.number < b.number : a.sequence < b.sequence;
                     });
    if (!thread.chunks.empty() && thread.chunks.back().end_ticks != 0) {
      thread.exited = true;
      thread.end_ticks = thread.chunks.back().end_ticks;
    }
    if (!thread.defined && !thread.chunks.empty()) {
      thread.start_ticks = thread.chunks.front().base_ticks;
    }
  }
  // A number is used again by a later thread: a name belongs to whoever lived when it was given.
  std::unordered_multimap<std::uint32_t, std::uint32_t> by_tid;
  if (!loading.thread_names.empty()) {
    for (const auto& entry : loading.threads) {
      by_tid.emplace(threads_[entry.second].tid, entry.second);
    }
  }
  for (const ThreadName& name : loading.thread_names) {
    ReadThread* best = nullptr;
    const auto candidates = by_tid.equal_range(name.tid);
    for (auto at = candidates.first; at != candidates.second; ++at) {
      ReadThread& thread = threads_[at->second];
      const bool began = thread.start_ticks <= name.ticks;
      if (best == nullptr || (began && thread.start_ticks >= best->start_ticks) ||
          (!began && best->start_ticks > thread.start_ticks)) {
        best = &thread;
      }
    }
    if (best != nullptr) best->name = loading.text(name.name);
  }
  const auto add = [&](const LossWindow& loss, LossReason reason) {
    if (loss.count == 0) return;
    ReadLoss lost;
    lost.process = loading.index;
    lost.from = process.time(loss.from);
    lost.to = process.time(loss.to);
    lost.count = loss.count;
    lost.reason = loss_reason_text(reason);
    losses_.push_back(lost);
  };
  add(process.header.loss, LossReason::no_space);
  for (std::uint32_t reason = 0; reason < loss_reasons; ++reason) {
    add(process.header.losses[reason], static_cast<LossReason>(reason));
  }
}

bool Recording::add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes,
                    const FileCheck& check) {
  ReadProcess process;
  process.path = path;
  process.schemas = std::make_shared<ReadSchemas>(*this);
  if (!read_header(process, words, bytes)) return false;
  process.open_chunks = check.open_chunks;
  files_.push_back(std::move(words));
  processes_.push_back(std::move(process));
  Loading loading(processes_.back(), static_cast<std::uint32_t>(processes_.size() - 1), bytes);
  const std::size_t first_thread = threads_.size();
  const std::size_t first_stats = stats_.size();
  find_chunks(loading, check);
  std::stable_sort(loading.definitions.begin(), loading.definitions.end(),
                   [](const ReadChunk& a, const ReadChunk& b) { return a.sequence < b.sequence; });
  for (const ReadChunk& chunk : loading.definitions) read_definitions(loading, chunk);
  resolve(loading);
  // In the order in which they began, whatever the order of their chunks.
  std::stable_sort(
      threads_.begin() + static_cast<std::ptrdiff_t>(first_thread), threads_.end(),
      [](const ReadThread& a, const ReadThread& b) { return a.start_ticks < b.start_ticks; });
  std::unordered_map<std::uint32_t, std::uint32_t>& rows = loading.threads;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    rows[threads_[i].number] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = first_stats; i < stats_.size(); ++i) {
    stats_[i].thread = rows[stats_[i].thread];
  }
  if (loading.is_checked()) find_damage(loading, first_thread, check);
  if ((loading.process.header.flags & file_cut) != 0) add_cut_loss(loading.index);
  return true;
}

}  // namespace nvspan
