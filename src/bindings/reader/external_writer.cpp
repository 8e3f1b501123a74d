// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The class nvspan._reader.ExternalWriter: recordings of events that the caller has.

#include "bindings/support/py.hpp"

#include "bindings/reader/external_writer.hpp"
#include "bindings/reader/values/methods.hpp"

#include <pybind11/stl.h>

#include "nvtx/numbers.hpp"

#include <cmath>

namespace py = pybind11;

namespace nvspan::bindings {
void External::refuse_handle(const char* what, std::uint64_t given) {
  throw py::value_error(std::string(what) + " must be a number that " + what + "() returned, not " +
                        std::to_string(given));
}

std::uint32_t word_of(std::int64_t value, const char* name) {
  if (value < 0 || value > 0xFFFFFFFF) {
    throw py::value_error(std::string(name) + " must be 0 to 2**32 - 1, not " +
                          std::to_string(value));
  }
  return static_cast<std::uint32_t>(value);
}

void External::check_open() const {
  if (!writer_.is_open()) throw py::value_error("the writer is closed");
}

External::Text External::text_given(const py::object& given) {
  if (given.is_none()) return std::nullopt;
  return bytes_of(py::cast<py::str>(given));
}

record::ProcessPart& External::part(std::uint32_t process) {
  check_open();
  if (process >= writer_.processes()) refuse_handle("process", process);
  return writer_.process(process);
}

record::ProcessPart& External::part_of(std::uint32_t thread, std::uint32_t domain) {
  const Lock lock(mutex_);
  check_open();
  if (thread >= writer_.threads()) refuse_handle("thread", thread);
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  const std::uint32_t process = writer_.thread(thread).process;
  if (writer_.domain_place(domain).process != process) {
    throw py::value_error("domain and thread must be of one process, not of " +
                          std::to_string(writer_.domain_place(domain).process) + " and " +
                          std::to_string(process));
  }
  return writer_.process(process);
}

const record::ClockMap* External::clock_of(const py::object& handle) const {
  if (handle.is_none()) return nullptr;
  const auto number = py::cast<std::uint64_t>(handle);
  const Lock lock(mutex_);
  if (number >= clocks_.size()) refuse_handle("clock", number);
  return clocks_[static_cast<std::size_t>(number)].get();
}

const GivenSchema* External::schema_of(const py::object& handle, std::uint32_t domain) const {
  if (handle.is_none()) return nullptr;
  const auto number = py::cast<std::uint64_t>(handle);
  const Lock lock(mutex_);
  const auto found = schemas_.find(number);
  if (found == schemas_.end() || found->second.domain != domain) {
    throw py::value_error("schema must be a number that schema() returned for this domain, not " +
                          std::to_string(number));
  }
  return &found->second;
}

std::uint32_t External::process(std::int64_t pid, std::int64_t parent_pid, const py::str& host,
                                const py::str& boot_id, const std::vector<py::str>& command,
                                std::int64_t unix_offset, std::int32_t rank,
                                std::int32_t local_rank, std::int32_t world_size) {
  record::ExternalWriter::About about;
  about.pid = word_of(pid, "pid");
  about.parent_pid = word_of(parent_pid, "parent_pid");
  const std::string host_bytes = bytes_of(host);
  const std::string boot_bytes = bytes_of(boot_id);
  about.host = host_bytes;
  about.boot_id = boot_bytes;
  for (const py::str& argument : command) about.command.push_back(bytes_of(argument));
  about.unix_offset = unix_offset;
  about.rank = rank;
  about.local_rank = local_rank;
  about.world_size = world_size;
  const Lock lock(mutex_);
  check_open();
  return writer_.add_process(about);
}

std::uint32_t External::thread(std::uint32_t process, std::int64_t tid, const py::object& name) {
  const std::uint32_t number = word_of(tid, "tid");
  const Text text = text_given(name);
  const Lock lock(mutex_);
  part(process);
  return writer_.add_thread(process, number, number_of(text));
}

std::uint32_t External::domain(std::uint32_t process, const py::object& name) {
  const Text text = text_given(name);
  const Lock lock(mutex_);
  part(process);
  return writer_.domain(process, number_of(text));
}

void External::name_thread(std::uint32_t thread, const py::str& name) {
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (thread >= writer_.threads()) refuse_handle("thread", thread);
  writer_.name_thread(thread, number_of(text));
}

void External::name_domain(std::uint32_t domain, const py::str& name) {
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  writer_.name_domain(domain, number_of(text));
}

py::object External::strings(const py::iterable& given) {
  const auto texts = py::list(given);  // which keeps them
  std::vector<std::string_view> views;
  std::vector<std::unique_ptr<std::string>> encoded;
  views.reserve(texts.size());
  for (const py::handle& text : texts) {
    if (text.is_none()) {
      views.emplace_back();
      continue;
    }
    if (PyUnicode_Check(text.ptr()) == 0) {
      throw py::type_error("texts[" + std::to_string(views.size()) +
                           "] must be a str or None, not " + Py_TYPE(text.ptr())->tp_name);
    }
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (utf8 == nullptr) {
      PyErr_Clear();
      encoded.push_back(
          std::make_unique<std::string>(bytes_of(py::reinterpret_borrow<py::str>(text))));
      views.emplace_back(*encoded.back());
    } else {
      views.emplace_back(utf8, static_cast<std::size_t>(size));
    }
  }
  std::vector<std::uint32_t> numbers;
  numbers.reserve(views.size());
  {
    const Lock lock(mutex_);
    check_open();
    for (const std::string_view view : views) {
      numbers.push_back(view.data() == nullptr ? record::no_string : writer_.text(view));
    }
  }
  const py::bytes bytes(reinterpret_cast<const char*>(numbers.data()),
                        numbers.size() * sizeof numbers[0]);
  return py::memoryview(bytes).attr("cast")("I");
}

void External::category(std::uint32_t domain, std::int64_t number, const py::str& name) {
  const std::uint32_t category = word_of(number, "number");
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  const auto place = writer_.domain_place(domain);
  writer_.process(place.process).category(place.number, category, number_of(text));
}

void External::device_name(std::uint32_t process, std::int64_t device, const py::str& name) {
  const std::uint32_t number = word_of(device, "device");
  const Text text = text_given(name);
  const Lock lock(mutex_);
  part(process).device_name(record::DeviceNameKind::device, number, number_of(text));
}

void External::gpu(std::uint32_t process, std::int64_t device, const py::str& name,
                   const GpuLimits& limits) {
  record::GpuLimitsDefinition gpu = {};
  gpu.device = word_of(device, "device");
  std::uint32_t* const fields[] = {&gpu.major_capability,
                                   &gpu.minor_capability,
                                   &gpu.processors,
                                   &gpu.threads_of_warp,
                                   &gpu.warps,
                                   &gpu.blocks,
                                   &gpu.registers,
                                   &gpu.shared_bytes};
  for (std::size_t i = 0; i < limits.size(); ++i) *fields[i] = word_of(limits[i], "limits");
  const Text text = text_given(name);
  const Lock lock(mutex_);
  gpu.name = number_of(text);
  part(process).gpu(gpu);
}

void External::stream_name(std::uint32_t process, std::uint64_t stream, const py::str& name) {
  const Text text = text_given(name);
  const Lock lock(mutex_);
  part(process).device_name(record::DeviceNameKind::stream, stream, number_of(text));
}

std::uint32_t External::clock(const std::vector<std::pair<std::int64_t, std::int64_t>>& given,
                              double frequency) {
  if (given.empty()) throw py::value_error("points must have one (own time, ns) pair or more");
  if (!(frequency > 0) || !std::isfinite(frequency)) {
    throw py::value_error("frequency must be more than 0 ticks a second, not " +
                          std::to_string(frequency));
  }
  std::vector<record::ClockMap::Point> points;
  for (const auto& [own, ns] : given) {
    if (!points.empty() && own <= points.back().own) {
      throw py::value_error("points must be in the order of their times, and " +
                            std::to_string(own) + " follows " + std::to_string(points.back().own));
    }
    points.push_back(record::ClockMap::Point{own, ns});
  }
  const Lock lock(mutex_);
  check_open();
  clocks_.push_back(std::make_unique<record::ClockMap>(std::move(points), frequency));
  return static_cast<std::uint32_t>(clocks_.size() - 1);
}

// Entries as Python gives them: name, type, flags, detail and offset, maybe a unit.
std::vector<External::GivenField> External::fields_given(const py::iterable& entries) {
  std::vector<GivenField> fields;
  for (const py::handle& given : entries) {
    const auto entry = py::cast<py::tuple>(given);
    if (entry.size() != 5 && entry.size() != 6) {
      throw py::value_error("entries must be tuples of name, type, flags, detail, offset and unit");
    }
    GivenField& field = fields.emplace_back();
    field.name = bytes_of(py::cast<py::str>(entry[0]));
    field.read.type = py::cast<std::uint64_t>(entry[1]);
    field.read.flags = py::cast<std::uint64_t>(entry[2]);
    field.read.detail = py::cast<std::uint64_t>(entry[3]);
    field.read.offset = py::cast<std::uint64_t>(entry[4]);
    if (entry.size() == 6) field.unit = text_given(entry[5]);
  }
  return fields;
}

void External::known_schema(std::uint32_t domain, std::uint64_t id, const py::object& name,
                            std::uint64_t size, std::uint64_t type, const py::iterable& entries) {
  const std::vector<GivenField> given = fields_given(entries);
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  record::SchemaLayout layout{writer_.text(text.value_or("")), size, type, {}};
  for (const GivenField& field : given) {
    layout.fields.push_back(field.read);
    if (!field.name.empty()) layout.fields.back().name = writer_.text(field.name);
  }
  writer_.known_schema(domain, id, std::move(layout));
}

void External::enumeration(std::uint32_t domain, std::uint64_t id, const py::object& name,
                           std::uint64_t size, const py::iterable& given) {
  std::vector<Text> names;
  std::vector<record::EnumValueDefinition> values;
  for (const py::handle& each : given) {
    const auto value = py::cast<py::tuple>(each);
    if (value.size() != 3) throw py::value_error("values must be tuples of name, value, is_flag");
    names.push_back(text_given(value[0]));
    values.push_back({py::cast<std::uint64_t>(value[1]), 0, py::cast<bool>(value[2]) ? 1u : 0u});
  }
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].name = number_of(names[i]);
  const auto place = writer_.domain_place(domain);
  writer_.process(place.process)
      .enumeration(record::EnumDefinition{id, size, place.number, number_of(text)},
                   std::move(values));
}

void External::cite(std::uint32_t process, std::uint64_t handle, std::uint32_t text) {
  const Lock lock(mutex_);
  if (text >= writer_.texts()) refuse_handle("strings", text);
  part(process).cite(handle, text);
}

std::uint64_t External::schema(std::uint32_t domain, const py::object& name, std::size_t size,
                               const py::iterable& entries) {
  const std::vector<GivenField> given = fields_given(entries);
  if (size >= record::most_payload_words * 8) {
    throw py::value_error("size must be less than 128 MiB, not " + std::to_string(size));
  }
  const Text text = text_given(name);
  const Lock lock(mutex_);
  check_open();
  if (domain >= writer_.domains()) refuse_handle("domain", domain);
  record::SchemaLayout layout{number_of(text), size, nvtx::schema_type::fixed_schema, {}};
  for (const GivenField& field : given) {
    layout.fields.push_back(field.read);
    layout.fields.back().name = writer_.text(field.name);
    layout.fields.back().unit = number_of(field.unit);
  }
  const std::uint64_t id = writer_.schema(domain, std::move(layout));
  schemas_[id] = GivenSchema{domain, size};
  return id;
}

std::uint32_t External::counter(std::uint32_t process, std::uint32_t domain, const py::str& name,
                                const py::object& unit, const py::object& description,
                                const py::object& schema) {
  const bool group = schema_of(schema, domain) != nullptr;
  record::GivenMeaning meaning;
  if (group) meaning.schema = py::cast<std::uint64_t>(schema);
  const Text name_text = text_given(name);
  const Text unit_text = text_given(unit);
  const Text description_text = text_given(description);
  const Lock lock(mutex_);
  part(process);
  if (domain >= writer_.domains() || writer_.domain_place(domain).process != process) {
    refuse_handle("domain", domain);
  }
  meaning.unit = number_of(unit_text);
  meaning.description = number_of(description_text);
  const std::uint32_t handle = writer_.counter(process, domain, number_of(name_text), meaning);
  if (group) counter_schemas_[handle] = meaning.schema;
  return handle;
}

void External::close() {
  work([&] { writer_.close(); });
}

void bind_external_writer(py::module_& module) {
  const auto none = py::none();
  Methods(py::class_<External>(module, "ExternalWriter")
              .def(py::init<const std::string&, std::uint64_t>(), py::arg("path"),
                   py::arg("memory") = 256'000'000)
              .def_property_readonly("overlapping", &External::overlapping))
      .def("process", &External::process, py::arg("pid"), py::kw_only(), py::arg("parent_pid") = 0,
           py::arg("host") = "", py::arg("boot_id") = "",
           py::arg("command") = std::vector<py::str>(), py::arg("unix_offset") = 0,
           py::arg("rank") = -1, py::arg("local_rank") = -1, py::arg("world_size") = -1)
      .def("thread", &External::thread, py::arg("process"), py::arg("tid"), py::arg("name") = none)
      .def("domain", &External::domain, py::arg("process"), py::arg("name"))
      .def("name_thread", &External::name_thread, py::arg("thread"), py::arg("name"))
      .def("name_domain", &External::name_domain, py::arg("domain"), py::arg("name"))
      .def("strings", &External::strings, py::arg("texts"))
      .def("category", &External::category, py::arg("domain"), py::arg("number"), py::arg("name"))
      .def("device_name", &External::device_name, py::arg("process"), py::arg("device"),
           py::arg("name"))
      .def("gpu", &External::gpu, py::arg("process"), py::arg("device"), py::arg("name"),
           py::arg("limits"))
      .def("stream_name", &External::stream_name, py::arg("process"), py::arg("stream"),
           py::arg("name"))
      .def("clock", &External::clock, py::arg("points"), py::arg("frequency") = 1e9)
      .def("schema", &External::schema, py::arg("domain"), py::arg("name"), py::arg("size"),
           py::arg("entries"))
      .def("known_schema", &External::known_schema, py::arg("domain"), py::arg("id"),
           py::arg("name"), py::arg("size"), py::arg("type"), py::arg("entries"))
      .def("enumeration", &External::enumeration, py::arg("domain"), py::arg("id"), py::arg("name"),
           py::arg("size"), py::arg("values"))
      .def("cite", &External::cite, py::arg("process"), py::arg("handle"), py::arg("text"))
      .def("counter", &External::counter, py::arg("process"), py::arg("domain"), py::arg("name"),
           py::kw_only(), py::arg("unit") = none, py::arg("description") = none,
           py::arg("schema") = none)
      .def("ranges", &External::ranges)
      .def("marks", &External::marks)
      .def("pushes", &External::pushes)
      .def("starts", &External::starts)
      .def("pops", &External::pops, py::arg("thread"), py::arg("domain"), py::arg("time"),
           py::kw_only(), py::arg("clock") = none)
      .def("ends", &External::ends, py::arg("thread"), py::arg("domain"), py::arg("time"),
           py::arg("id"), py::kw_only(), py::arg("clock") = none)
      .def("device_ranges", &External::device_ranges)
      .def("samples", &External::samples, py::arg("thread"), py::arg("counter"), py::arg("time"),
           py::arg("value"), py::kw_only(), py::arg("clock") = none)
      .def("absent", &External::absent, py::arg("thread"), py::arg("counter"), py::arg("time"),
           py::arg("reason"), py::kw_only(), py::arg("clock") = none)
      .def("close", &External::close)
      .def("abort", &External::abort)
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__",
           [](External& self, const py::object& type, const py::object&, const py::object&) {
             if (type.is_none())
               self.close();
             else
               self.abort();
           });
}

}  // namespace nvspan::bindings
