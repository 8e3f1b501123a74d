// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reader/reader_object.hpp"
#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/result.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "reader/scan/payloads.hpp"
#include "reader/scan/thread_scan.hpp"
#include "trace/sinks/payload_text.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

namespace {

// The calls of one thread as they were made: (kind, time, site, depth, id, payload or None).
class CallList : public reader::ThreadVisitor {
 public:
  CallList(const reader::Recording& recording, const reader::ReadThread& thread, py::list& out)
      : process_(recording.processes()[thread.process]), out_(out) {}

  std::uint64_t open(const reader::PushRange& range, std::uint64_t,
                     const reader::EntryPayload& payload) {
    add("push", range.start, range.site, range.depth, 0, payload);
    return 0;
  }
  void close(const reader::PushRange& range, std::uint64_t ticks,
             const reader::EntryPayload& payload) {
    add("pop", ticks, range.site, range.depth, 0, payload);
  }
  void orphan(std::uint32_t domain, std::uint64_t ticks) {
    out_.append(
        py::make_tuple("pop", process_.time(ticks), -1 - domain_of(domain), -1, 0, py::none()));
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const reader::EntryPayload& payload) {
    add("mark", ticks, site, 0, 0, payload);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const reader::EntryPayload& payload) {
    add("start", ticks, site, 0, id, payload);
  }
  void end(std::uint32_t domain, std::uint64_t ticks, std::uint64_t id,
           const reader::EntryPayload& payload) {
    out_.append(py::make_tuple("end", process_.time(ticks), -1 - domain_of(domain), 0, id,
                               payload_of(payload)));
  }

  void whole(std::uint32_t site, std::uint64_t begin, std::uint64_t end,
             const reader::EntryPayload& payload) {
    add("start", begin, site, 0, 0, payload);
    add("end", end, site, 0, 0, {});
  }

 private:
  std::int64_t domain_of(std::uint32_t local) const {
    return local < process_.domains.size() ? process_.domains[local] : 0;
  }
  static py::object payload_of(const reader::EntryPayload& payload) {
    if (!payload.present) return py::none();
    if (payload.bytes == nullptr) return py::int_(payload.bits);
    return py::bytes(reinterpret_cast<const char*>(payload.bytes), payload.bits);
  }
  void add(const char* kind, std::uint64_t ticks, std::uint32_t site, std::uint32_t depth,
           std::uint64_t id, const reader::EntryPayload& payload) {
    out_.append(py::make_tuple(kind, process_.time(ticks), site, depth, id, payload_of(payload)));
  }

  const reader::ReadProcess& process_;
  py::list& out_;
};

// A consumer that takes the struct leaves its release empty.
template <typename Struct>
py::object capsule(Struct* given, const char* name) {
  PyObject* capsule = PyCapsule_New(given, name, [](PyObject* self) {
    auto* held = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held == nullptr) return PyErr_Clear();
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(capsule);
}

template <typename Test>
std::vector<bool> mask(std::size_t size, Test&& test) {
  std::vector<bool> passed(size);
  for (std::size_t i = 0; i < size; ++i) passed[i] = test(i);
  return passed;
}

double resolution_of(const record::FileHeader& header) {
  const bool counts = header.clock == static_cast<std::uint32_t>(record::ClockType::tsc);
  // From a file: it may hold anything.
  return counts && header.estimated_frequency >= 1 ? 1e9 / header.estimated_frequency : 1;
}

}  // namespace

// What is kept from one payload to the next.
struct Reader::Decoder {
  explicit Decoder(const reader::Recording& recording) : payloads(recording), line(pool) {}

  reader::RecordedPayloads payloads;
  core::PagePool pool;
  core::LineBuffer line;
};
// One that no other thread uses: Python may run while it is lent.
class Reader::LentDecoder {
 public:
  explicit LentDecoder(Reader& reader) : reader_(reader) {
    {
      const std::lock_guard<std::mutex> lock(reader.decoders_mutex_);
      if (!reader.decoders_.empty()) {
        decoder_ = std::move(reader.decoders_.back());
        reader.decoders_.pop_back();
        return;
      }
    }
    decoder_ = std::make_unique<Decoder>(*reader.recording_);
  }
  LentDecoder(const LentDecoder&) = delete;
  LentDecoder& operator=(const LentDecoder&) = delete;
  LentDecoder(LentDecoder&&) = delete;
  LentDecoder& operator=(LentDecoder&&) = delete;
  ~LentDecoder() {
    const std::lock_guard<std::mutex> lock(reader_.decoders_mutex_);
    if (reader_.decoders_.size() < most_decoders) reader_.decoders_.push_back(std::move(decoder_));
  }

  Decoder* operator->() const noexcept { return decoder_.get(); }

 private:
  Reader& reader_;
  std::unique_ptr<Decoder> decoder_;
};

Reader::Reader(const std::vector<std::string>& paths)
    : recording_(std::make_shared<reader::Recording>()),
      whole_(std::make_shared<reader::Columns>(recording_)),
      columns_(whole_) {
  decoders_.reserve(most_decoders);
  const released_gil released;
  for (const std::string& path : paths) {
    if (!recording_->add(path)) ++unreadable_;
  }
}

Reader::~Reader() = default;

Reader::Reader(const Reader& of, reader::Selection part)
    : recording_(of.recording_),
      whole_(of.whole_),
      columns_(std::make_shared<reader::Columns>(whole_, part)),
      selection_(std::move(part)) {
  decoders_.reserve(most_decoders);
}

py::set Reader::pairs() const {
  py::set pairs;
  for (const reader::ReadSite& site : recording_->sites()) {
    pairs.add(py::make_tuple(site.domain, site.name));
  }
  for (const reader::ReadCounter& counter : recording_->counters()) {
    pairs.add(py::make_tuple(counter.domain, counter.name));
  }
  return pairs;
}

py::list Reader::strings() const {
  py::list texts;
  const core::TextTable& strings = recording_->strings();
  for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
    texts.append(text_of(strings[i]));
  }
  return texts;
}

py::object Reader::text(std::int32_t index) const { return string_at(*recording_, index); }

py::list Reader::domains() const {
  py::list names;
  for (const std::int32_t name : recording_->domains()) names.append(text(name));
  return names;
}

py::list Reader::problems() const {
  py::list problems;
  for (const std::string& problem : recording_->problems()) problems.append(text_of(problem));
  return problems;
}

py::list Reader::events() const {
  py::list events;
  for (const reader::ReadEvent& event : recording_->events()) {
    events.append(py::make_tuple(event.process, text_of(event.json)));
  }
  return events;
}

py::list Reader::names(const std::string& table) {
  std::vector<std::string> found;
  {
    const released_gil released;
    found = columns_->names(table);
  }
  py::list names;
  for (const std::string& name : found) names.append(text_of(name));
  return names;
}

std::size_t Reader::rows(const std::string& table) {
  const released_gil released;
  return columns_->rows(table);
}

ColumnView Reader::column(const std::string& table, const py::str& asked) {
  const std::string name = bytes_of(asked);
  std::shared_ptr<const reader::Column> found;
  {
    const released_gil released;
    found = columns_->column(table, name);
  }
  if (found == nullptr) {
    PyErr_SetObject(PyExc_KeyError, asked.ptr());
    throw py::error_already_set();
  }
  return ColumnView{found};
}

py::list Reader::calls(std::size_t thread) const {
  if (thread >= recording_->threads().size()) throw py::index_error();
  py::list calls;
  CallList visitor(*recording_, recording_->threads()[thread], calls);
  reader::scan_thread(*recording_, recording_->threads()[thread], visitor);
  return calls;
}

py::tuple Reader::site(std::size_t index) const {
  if (index >= recording_->sites().size()) throw py::index_error();
  const reader::ReadSite& at = recording_->sites()[index];
  return py::make_tuple(text(recording_->domains()[at.domain]), text(at.name), at.message_type,
                        at.has_color ? py::object(py::int_(at.color)) : py::none(), at.category,
                        text(at.category_name), at.payload_type);
}

py::bytes Reader::payload_bytes(std::uint64_t offset, std::uint64_t size) {
  const auto& bytes = tables().bytes;
  if (offset > bytes.size() || size > bytes.size() - offset) throw py::index_error();
  return py::bytes(reinterpret_cast<const char*>(bytes.data()) + offset, size);
}

py::object Reader::payload_json(std::uint32_t process, std::uint32_t site,
                                const std::string& bytes) {
  if (process >= recording_->processes().size() || site >= recording_->sites().size()) {
    throw py::index_error();
  }
  const LentDecoder decoder(*this);
  core::LineBuffer& line = decoder->line;
  line.clear();
  line.add('{');
  trace::PayloadJson json(line);
  const trace::PayloadResult result = decoder->payloads.read(
      process, recording_->sites()[site].local_domain, bytes.data(), bytes.size(), json);
  if (result != trace::PayloadResult::whole || line.size() == 1) return py::none();
  line.add('}');
  return py::str(line.data(), line.size());
}

py::object Reader::row_json(const std::string& table, std::size_t row) {
  const reader::Tables& tables = this->tables();
  const auto read = [&](const auto& rows) -> py::object {
    if (row >= rows.site.size()) throw py::index_error();
    const std::string bytes(reinterpret_cast<const char*>(tables.bytes.data()) +
                                rows.payload[row] * (rows.payload_bytes[row] != 0 ? 1 : 0),
                            rows.payload_bytes[row]);
    if (bytes.empty()) return py::none();
    return payload_json(recording_->threads()[rows.thread[row]].process, rows.site[row], bytes);
  };
  if (table == "ranges") return read(tables.ranges);
  if (table == "marks") return read(tables.marks);
  throw py::key_error(table);
}

py::tuple Reader::arrow_array(const std::string& table) {
  const reader::ColumnList columns = all(table);
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<ArrowArray>();
  reader::export_schema(columns, schema.get());
  reader::export_array(columns, rows(table), array.get());
  return py::make_tuple(capsule(schema.release(), "arrow_schema"),
                        capsule(array.release(), "arrow_array"));
}

py::object Reader::arrow_schema(const std::string& table) {
  auto schema = std::make_unique<ArrowSchema>();
  reader::export_schema(all(table), schema.get());
  return capsule(schema.release(), "arrow_schema");
}

py::object Reader::arrow_stream(const std::string& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  reader::export_stream(all(table), rows(table), stream.get());
  return capsule(stream.release(), "arrow_array_stream");
}

void Reader::write_csv(const std::string& table, const std::string& path,
                       const reader::ColumnWords& words, const py::object& progress,
                       bool escape_formulas) {
  try {
    released_gil released;
    reader::export_csv(*columns_, table, path, words, progress_of<std::size_t>(progress, released),
                       escape_formulas);
  } catch (const std::system_error& error) {
    raise_os_error(error, path);
  }
}

const reader::Tables& Reader::tables() {
  if (columns_->has_tables()) return columns_->tables();
  const released_gil released;
  return columns_->tables();
}

reader::ColumnList Reader::all(const std::string& table) {
  reader::ColumnList columns;
  const released_gil released;
  for (const std::string& name : columns_->names(table)) {
    columns.push_back(columns_->column(table, name));
  }
  return columns;
}

py::list Reader::processes() const {
  static const char* const modes[] = {"full", "ring", "stats", "armed"};
  static const char* const clocks[] = {"tsc", "monotonic", "given"};
  static const char* const cuda_uses[] = {"none", "mapped", "context"};
  py::list processes;
  for (const reader::ReadProcess& process : recording_->processes()) {
    const record::FileHeader& header = process.header;
    NewResult entry("RecordedProcess");
    py::list command;
    for (const std::string& argument : process.command) command.append(text_of(argument));
    entry["path"] = process.path;
    entry["pid"] = header.pid;
    entry["parent_pid"] = header.parent_pid;
    entry["host"] = header.host;
    entry["boot_id"] = text_of(header.boot_id).attr("strip")();
    entry["command"] = command;
    entry["rank"] = number_or_none(header.rank);
    entry["local_rank"] = number_or_none(header.local_rank);
    entry["world_size"] = number_or_none(header.world_size);
    entry["run"] = header.run;
    entry["mode"] = modes[std::min<std::uint32_t>(header.mode, 3)];
    entry["clock"] = clocks[std::min<std::uint32_t>(header.clock, 2)];
    entry["resolution"] = resolution_of(header);
    entry["closed"] = process.closed;
    entry["open_chunks"] = process.open_chunks;
    entry["start"] = process.time(header.first.ticks);
    entry["end"] = process.end;
    entry["unix_offset"] = static_cast<std::int64_t>(header.first.realtime) -
                           static_cast<std::int64_t>(header.first.monotonic) - process.offset;
    entry["event_cost"] = header.event_cost / 1000.0;
    entry["inner_cost"] = header.inner_cost / 1000.0;
    entry["min_duration"] = header.min_duration;
    if (header.annotate_cost != 0) entry["annotate_cost"] = header.annotate_cost;
    if (header.cuda != 0) entry["cuda"] = cuda_uses[std::min<std::uint32_t>(header.cuda, 3) - 1];
    processes.append(entry.done());
  }
  return processes;
}

py::list Reader::launch_shapes() const {
  py::list shapes;
  const auto& known = recording_->shapes();
  for (std::size_t i = 1; i < known.size(); ++i) {
    const auto& [grid, block, registers, static_shared, dynamic_shared] = known[i];
    NewResult shape("LaunchShape");
    shape["grid"] = py::make_tuple(grid[0], grid[1], grid[2]);
    shape["block"] = py::make_tuple(block[0], block[1], block[2]);
    shape["registers"] = registers;
    shape["static_shared"] = static_shared;
    shape["dynamic_shared"] = dynamic_shared;
    shapes.append(shape.done());
  }
  return shapes;
}

py::list Reader::gpu_gaps() const {
  py::list gaps;
  for (const reader::ReadGap& gap : recording_->gaps()) {
    NewResult entry("GpuGap");
    entry["process"] = gap.process;
    entry["start"] = gap.from;
    entry["end"] = gap.to;
    entry["reason"] = gap.reason;
    gaps.append(entry.done());
  }
  return gaps;
}

py::list Reader::gpus() const {
  py::list gpus;
  for (std::uint32_t i = 0; i < recording_->processes().size(); ++i) {
    for (const auto& [device, gpu] : recording_->processes()[i].gpus) {
      NewResult entry("Gpu");
      entry["process"] = i;
      entry["device"] = device;
      entry["name"] = text_of(recording_->text(gpu.name));
      entry["capability"] =
          py::make_tuple(gpu.limits.major_capability, gpu.limits.minor_capability);
      entry["processors"] = gpu.limits.processors;
      entry["warp"] = gpu.limits.threads_of_warp;
      entry["warps"] = gpu.limits.warps;
      entry["blocks"] = gpu.limits.blocks;
      entry["registers"] = gpu.limits.registers;
      entry["shared"] = gpu.limits.shared_bytes;
      gpus.append(entry.done());
    }
  }
  return gpus;
}

bool Reader::has_device_ranges() const {
  const auto& sites = recording_->sites();
  return std::any_of(sites.begin(), sites.end(),
                     [](const reader::ReadSite& site) { return site.device != 0; });
}

std::unique_ptr<Reader> Reader::filtered(const py::object& pairs, const py::object& threads,
                                         std::int64_t from, std::int64_t to,
                                         std::int64_t shortest) {
  reader::Selection part;
  part.from = from;
  part.to = to;
  part.shortest = shortest;
  if (!pairs.is_none()) {
    const auto has = [&](const auto& entry) {
      return pairs.contains(py::make_tuple(entry.domain, entry.name));
    };
    const auto& sites = recording_->sites();
    part.sites = mask(sites.size(), [&](std::size_t i) { return has(sites[i]); });
    const auto& counters = recording_->counters();
    part.counters = mask(counters.size(), [&](std::size_t i) { return has(counters[i]); });
  }
  if (!threads.is_none()) {
    part.threads =
        mask(recording_->threads().size(), [&](std::size_t i) { return threads.contains(i); });
  }
  return std::unique_ptr<Reader>(new Reader(*this, selection_ & part));
}

}  // namespace nvspan::bindings
