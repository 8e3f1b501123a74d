// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The extension module nvspan._reader. It is loaded when a recording is read, and never with the
// annotations.
#include "bindings/py.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/py_column.hpp"
#include "bindings/py_reports.hpp"
#include "record/aggregate.hpp"
#include "record/arrow.hpp"
#include "record/columns.hpp"
#include "record/csv_export.hpp"
#include "record/payload_text.hpp"
#include "record/recorded_payloads.hpp"
#include "record/selection.hpp"
#include "record/walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

namespace py = pybind11;

namespace nvspan {
namespace {

// The calls of one thread as they were made: (kind, time, site, depth, id, payload or None).
class CallList : public WalkVisitor {
 public:
  CallList(const Recording& recording, const ReadThread& thread, py::list& out)
      : process_(recording.processes()[thread.process]), out_(out) {}

  std::uint64_t open(const WalkRange& range, std::uint64_t, const WalkPayload& payload) {
    add("push", range.start, range.site, range.depth, 0, payload);
    return 0;
  }
  void close(const WalkRange& range, std::uint64_t ticks, const WalkPayload& payload) {
    add("pop", ticks, range.site, range.depth, 0, payload);
  }
  void orphan(std::uint32_t domain, std::uint64_t ticks) {
    out_.append(
        py::make_tuple("pop", process_.time(ticks), -1 - domain_of(domain), -1, 0, py::none()));
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const WalkPayload& payload) {
    add("mark", ticks, site, 0, 0, payload);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const WalkPayload& payload) {
    add("start", ticks, site, 0, id, payload);
  }
  void end(std::uint32_t domain, std::uint64_t ticks, std::uint64_t id,
           const WalkPayload& payload) {
    out_.append(py::make_tuple("end", process_.time(ticks), -1 - domain_of(domain), 0, id,
                               payload_of(payload)));
  }

 private:
  std::int64_t domain_of(std::uint32_t local) const {
    return local < process_.domains.size() ? process_.domains[local] : 0;
  }
  static py::object payload_of(const WalkPayload& payload) {
    if (!payload.present) return py::none();
    if (payload.bytes == nullptr) return py::int_(payload.bits);
    return py::bytes(reinterpret_cast<const char*>(payload.bytes), payload.bits);
  }
  void add(const char* kind, std::uint64_t ticks, std::uint32_t site, std::uint32_t depth,
           std::uint64_t id, const WalkPayload& payload) {
    out_.append(py::make_tuple(kind, process_.time(ticks), site, depth, id, payload_of(payload)));
  }

  const ReadProcess& process_;
  py::list& out_;
};

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& paths)
      : recording_(std::make_shared<Recording>()),
        whole_(std::make_shared<Columns>(recording_)),
        columns_(whole_) {
    decoders_.reserve(most_decoders);
    const released_gil released;
    for (const std::string& path : paths) recording_->add(path);
  }

  // A part of this part. `pairs` is a set of pairs of numbers, of domains and names; `threads` one
  // of numbers; None: all.
  std::unique_ptr<Reader> filtered(const py::object& pairs, const py::object& threads,
                                   std::int64_t from, std::int64_t to, std::int64_t shortest);
  // The pairs that there are: (domain, name), -1 for no name.
  py::set pairs() const {
    py::set made;
    for (const ReadSite& site : recording_->sites()) {
      made.add(py::make_tuple(site.domain, site.name));
    }
    for (const ReadCounter& counter : recording_->counters()) {
      made.add(py::make_tuple(counter.domain, counter.name));
    }
    return made;
  }

  py::list strings() const {
    py::list made;
    const TextTable& strings = recording_->strings();
    for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
      made.append(text_of(strings[i]));
    }
    return made;
  }
  std::size_t string_count() const { return recording_->strings().size(); }
  py::object text(std::int32_t index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= recording_->strings().size()) {
      return py::none();
    }
    return text_of(recording_->strings()[static_cast<std::size_t>(index)]);
  }
  py::list domains() const {
    py::list made;
    for (const std::int32_t name : recording_->domains()) made.append(text(name));
    return made;
  }
  py::list problems() const {
    py::list made;
    for (const std::string& problem : recording_->problems()) made.append(text_of(problem));
    return made;
  }
  py::list file_losses() const { return list_losses(recording_->losses()); }
  py::list processes() const;
  py::list events() const {
    py::list made;
    for (const ReadEvent& event : recording_->events()) {
      made.append(py::make_tuple(event.process, text_of(event.json)));
    }
    return made;
  }

  py::list names(const std::string& table) {
    std::vector<std::string> found;
    {
      const released_gil released;
      found = columns_->names(table);
    }
    py::list made;
    for (const std::string& name : found) made.append(text_of(name));
    return made;
  }
  std::size_t rows(const std::string& table) {
    const released_gil released;
    return columns_->rows(table);
  }
  ColumnView column(const std::string& table, const py::str& asked) {
    const std::string name = bytes_of(asked);
    std::shared_ptr<const Column> found;
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
  py::list calls(std::size_t thread) const {
    if (thread >= recording_->threads().size()) throw py::index_error();
    py::list made;
    CallList visitor(*recording_, recording_->threads()[thread], made);
    walk_thread(*recording_, recording_->threads()[thread], visitor);
    return made;
  }
  // (domain, message, message type, color or None, category, its name, payload type)
  py::tuple site(std::size_t index) const {
    if (index >= recording_->sites().size()) throw py::index_error();
    const ReadSite& at = recording_->sites()[index];
    return py::make_tuple(text(recording_->domains()[at.domain]), text(at.name), at.message_type,
                          at.has_color ? py::object(py::int_(at.color)) : py::none(), at.category,
                          text(at.category_name), at.payload_type);
  }
  py::bytes payload_bytes(std::uint64_t offset, std::uint64_t size) {
    const auto& bytes = tables().bytes;
    if (offset > bytes.size() || size > bytes.size() - offset) throw py::index_error();
    return py::bytes(reinterpret_cast<const char*>(bytes.data()) + offset, size);
  }
  // The fields of a payload as JSON; None where its schema is not known, or it does not fit.
  py::object payload_json(std::uint32_t process, std::uint32_t site, const std::string& bytes) {
    if (process >= recording_->processes().size() || site >= recording_->sites().size()) {
      throw py::index_error();
    }
    const LentDecoder decoder(*this);
    LineBuffer& line = decoder->line;
    line.clear();
    line.add('{');
    PayloadJson json(line);
    const PayloadResult result = decoder->payloads.read(
        process, recording_->sites()[site].local_domain, bytes.data(), bytes.size(), json);
    if (result != PayloadResult::whole || line.size() == 1) return py::none();
    line.add('}');
    return py::str(line.data(), line.size());
  }
  // Likewise of a row of "ranges" or "marks".
  py::object row_json(const std::string& table, std::size_t row) {
    const Tables& tables = this->tables();
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
  std::uint64_t orphan_ends() { return tables().orphan_ends; }
  RecordingHandle handle() const { return RecordingHandle{recording_, selection_}; }

  py::tuple arrow_array(const std::string& table) {
    const ColumnList columns = all(table);
    auto schema = std::make_unique<ArrowSchema>();
    auto array = std::make_unique<ArrowArray>();
    export_schema(columns, schema.get());
    export_array(columns, rows(table), array.get());
    return py::make_tuple(capsule(schema.release(), "arrow_schema"),
                          capsule(array.release(), "arrow_array"));
  }
  py::object arrow_schema(const std::string& table) {
    auto schema = std::make_unique<ArrowSchema>();
    export_schema(all(table), schema.get());
    return capsule(schema.release(), "arrow_schema");
  }
  py::object arrow_stream(const std::string& table) {
    auto stream = std::make_unique<ArrowArrayStream>();
    export_stream(all(table), rows(table), stream.get());
    return capsule(stream.release(), "arrow_array_stream");
  }

  py::dict stats(const py::str& asked);

  // `words` name the numbers of columns; `progress` is called with the rows done.
  void write_csv(const std::string& table, const std::string& path, const ColumnWords& words,
                 const py::object& progress, bool escape_formulas) {
    try {
      released_gil released;
      export_csv(*columns_, table, path, words, progress_of<std::size_t>(progress, released),
                 escape_formulas);
    } catch (const std::system_error& error) {
      raise_os_error(error, path);
    }
  }

 private:
  Reader(const Reader& of, Selection part)
      : recording_(of.recording_),
        whole_(of.whole_),
        columns_(std::make_shared<Columns>(whole_, part)),
        selection_(std::move(part)) {
    decoders_.reserve(most_decoders);
  }

  // Another thread may be making them, or this one is the first to ask.
  const Tables& tables() {
    if (columns_->has_tables()) return columns_->tables();
    const released_gil released;
    return columns_->tables();
  }

  ColumnList all(const std::string& table) {
    ColumnList columns;
    const released_gil released;
    for (const std::string& name : columns_->names(table)) {
      columns.push_back(columns_->column(table, name));
    }
    return columns;
  }

  // A consumer that takes the struct leaves its release empty.
  template <typename Struct>
  static py::object capsule(Struct* given, const char* name) {
    PyObject* made = PyCapsule_New(given, name, [](PyObject* self) {
      auto* held = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
      if (held == nullptr) return PyErr_Clear();
      if (held->release != nullptr) held->release(held);
      delete held;
    });
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  }

  static constexpr std::size_t most_decoders = 16;  // that are kept; room for them is reserved
  // What is kept from one payload to the next.
  struct Decoder {
    explicit Decoder(const Recording& recording) : payloads(recording), line(pool) {}

    RecordedPayloads payloads;
    PagePool pool;
    LineBuffer line;
  };
  // One that no other thread uses: Python may run while it is lent.
  class LentDecoder {
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
      if (reader_.decoders_.size() < most_decoders)
        reader_.decoders_.push_back(std::move(decoder_));
    }

    Decoder* operator->() const noexcept { return decoder_.get(); }

   private:
    Reader& reader_;
    std::unique_ptr<Decoder> decoder_;
  };

  std::shared_ptr<Recording> recording_;
  std::mutex decoders_mutex_;
  std::vector<std::unique_ptr<Decoder>> decoders_;
  std::shared_ptr<Columns> whole_;
  std::shared_ptr<Columns> columns_;
  Selection selection_;
};

py::list Reader::processes() const {
  static const char* const modes[] = {"full", "ring", "stats"};
  py::list made;
  for (const ReadProcess& process : recording_->processes()) {
    const FileHeader& header = process.header;
    py::dict entry;
    py::list command;
    for (const std::string& argument : process.command) command.append(text_of(argument));
    entry["path"] = text_of(process.path);
    entry["pid"] = header.pid;
    entry["parent_pid"] = header.parent_pid;
    entry["host"] = text_of(header.host);
    entry["boot_id"] = text_of(header.boot_id).attr("strip")();
    entry["command"] = command;
    entry["rank"] = header.rank < 0 ? py::object(py::none()) : py::int_(header.rank);
    entry["local_rank"] =
        header.local_rank < 0 ? py::object(py::none()) : py::int_(header.local_rank);
    entry["world_size"] =
        header.world_size < 0 ? py::object(py::none()) : py::int_(header.world_size);
    entry["run"] = header.run;
    entry["mode"] = modes[std::min<std::uint32_t>(header.mode, 2)];
    entry["clock"] = header.clock == 0 ? "tsc" : "monotonic";
    entry["closed"] = process.closed;
    entry["open_chunks"] = process.open_chunks;
    entry["start"] = process.time(header.first.ticks);
    entry["end"] = process.end;
    entry["unix_offset"] = static_cast<std::int64_t>(header.first.realtime) -
                           static_cast<std::int64_t>(header.first.monotonic) - process.offset;
    entry["event_cost"] = header.event_cost / 1000.0;
    entry["inner_cost"] = header.inner_cost / 1000.0;
    entry["min_duration"] = header.min_duration;
    made.append(entry);
  }
  return made;
}

template <typename Test>
std::vector<bool> mask(std::size_t size, Test&& test) {
  std::vector<bool> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = test(i);
  return made;
}

std::unique_ptr<Reader> Reader::filtered(const py::object& pairs, const py::object& threads,
                                         std::int64_t from, std::int64_t to,
                                         std::int64_t shortest) {
  Selection part;
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

py::object value_of(const FieldGroup& group) {
  static_assert(sizeof(double) == sizeof group.bits);
  double real = 0;
  switch (group.kind) {
    case PayloadValue::Kind::integer:
      return py::int_(static_cast<std::int64_t>(group.bits));
    case PayloadValue::Kind::count:
      return py::int_(group.bits);
    case PayloadValue::Kind::real:
      std::memcpy(&real, &group.bits, sizeof real);
      return py::float_(real);
    default:
      return text_of(group.text);
  }
}

py::dict Reader::stats(const py::str& asked) {
  const std::string by = bytes_of(asked);
  AggregateOptions options;
  static_cast<Selection&>(options) = selection_;
  const std::pair<const char*, GroupBy> groups[] = {
      {"name", GroupBy::name},         {"thread", GroupBy::thread},   {"process", GroupBy::process},
      {"category", GroupBy::category}, {"payload", GroupBy::payload}, {"device", GroupBy::device},
      {"stream", GroupBy::stream}};
  constexpr std::string_view prefix = "payload.";
  if (by.compare(0, prefix.size(), prefix) == 0 && by.size() > prefix.size()) {
    options.field = by.substr(prefix.size());
  }
  const auto* group = std::find_if(std::begin(groups), std::end(groups),
                                   [&](const auto& known) { return by == known.first; });
  if (group == std::end(groups) && options.field.empty()) {
    PyErr_Format(PyExc_ValueError,
                 "by must be one of name, thread, process, category, payload, payload.FIELD, "
                 "device, stream, not %R",
                 asked.ptr());
    throw py::error_already_set();
  }
  options.by = options.field.empty() ? group->second : GroupBy::field;
  Aggregate made;
  {
    const released_gil released;
    made = aggregate(*recording_, options);
    std::stable_sort(made.rows.begin(), made.rows.end(),
                     [](const auto& a, const auto& b) { return a->total > b->total; });
  }
  py::list rows;
  for (const auto& row : made.rows) {
    py::dict entry;
    const auto calls = static_cast<double>(row->calls);
    const double mean = row->calls == 0 ? 0 : row->total / calls;
    const double variance = row->calls < 2 ? 0 : (row->squares - row->total * mean) / (calls - 1);
    const auto least = static_cast<double>(row->calls == 0 ? 0 : row->shortest);
    const auto most = static_cast<double>(row->longest);
    const auto quantile = [&](double fraction) {
      return std::clamp(row->sketch.quantile(fraction, row->calls), least, most);
    };
    const std::int32_t domain = recording_->domains()[row->domain];
    entry["domain"] = text(domain);
    entry["name"] = text(row->name);
    entry["kind"] = kind_text(row->kind);
    entry["calls"] = row->calls;
    entry["unclosed"] = row->unclosed;
    entry["total"] = row->total;
    entry["self"] = row->self;
    entry["mean"] = mean;
    entry["std"] = std::sqrt(std::max(variance, 0.0));
    entry["min"] = least;
    entry["p50"] = quantile(0.5);
    entry["p90"] = quantile(0.9);
    entry["p99"] = quantile(0.99);
    entry["p999"] = quantile(0.999);
    entry["max"] = most;
    entry["threads"] = row->threads;
    entry["overhead"] = row->overhead;
    if (options.by == GroupBy::thread) entry["thread"] = row->thread;
    if (options.by == GroupBy::thread || options.by == GroupBy::process) {
      entry["process"] = row->process;
    }
    if (options.by == GroupBy::category) {
      entry["category"] = row->category;
      entry["category_name"] = text(row->category_name);
    }
    if (options.by == GroupBy::payload) {
      entry["payload_type"] = row->payload_type;
      entry["payload"] = row->payload;
    }
    if (options.by == GroupBy::field) {
      entry[asked] =
          row->payload == 0 ? py::object(py::none()) : value_of(made.groups[row->payload]);
    }
    if (row->lane >= 0) {
      const DeviceLane& lane = made.lanes.lanes()[static_cast<std::size_t>(row->lane)];
      add_lane(entry, *recording_, lane, options.by == GroupBy::stream);
    }
    rows.append(entry);
  }
  py::dict result;
  result["rows"] = rows;
  result["losses"] = list_losses(made.losses);
  result["lost"] = made.lost;
  result["gaps"] = made.gaps;
  result["overwritten"] = made.overwritten;
  result["orphans"] = made.orphans;
  result["others"] = made.others;
  result["first"] = made.first;
  result["last"] = made.last;
  result["whole"] = made.whole;
  py::list marks;
  for (const MarkRow& row : made.marks) {
    py::dict entry;
    entry["domain"] = text(recording_->domains()[row.domain]);
    entry["name"] = text(row.name);
    entry["calls"] = row.calls;
    marks.append(entry);
  }
  result["marks"] = marks;
  return result;
}

}  // namespace
}  // namespace nvspan

PYBIND11_MODULE(_reader, m, py::mod_gil_not_used()) {
  using nvspan::Reader;
  nvspan::bind_column(m);
  py::class_<Reader>(m, "Reader")
      .def(py::init<const std::vector<std::string>&>())
      .def("filtered", &Reader::filtered)
      .def("pairs", &Reader::pairs)
      .def("strings", &Reader::strings)
      .def("string_count", &Reader::string_count)
      .def("text", &Reader::text)
      .def("domains", &Reader::domains)
      .def("problems", &Reader::problems)
      .def("file_losses", &Reader::file_losses)
      .def("processes", &Reader::processes)
      .def("events", &Reader::events)
      .def("names", &Reader::names)
      .def("rows", &Reader::rows)
      .def("column", &Reader::column)
      .def("calls", &Reader::calls)
      .def("site", &Reader::site)
      .def("payload_bytes", &Reader::payload_bytes)
      .def("payload_json", &Reader::payload_json)
      .def("row_json", &Reader::row_json)
      .def("orphan_ends", &Reader::orphan_ends)
      .def("arrow_array", &Reader::arrow_array)
      .def("arrow_schema", &Reader::arrow_schema)
      .def("arrow_stream", &Reader::arrow_stream)
      .def("stats", &Reader::stats)
      .def("write_csv", &Reader::write_csv)
      .def("handle", &Reader::handle);
  nvspan::bind_reports(m);
}
