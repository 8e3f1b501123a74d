// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "bindings/reader/import/import_objects.hpp"
#include "bindings/reader/values/methods.hpp"

#include "reader/import/call_times.hpp"
#include "reader/import/import_table.hpp"
#include "reader/import/nsys_payload.hpp"
#include "reader/sqlite/sqlite_file.hpp"

#include <pybind11/stl.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::ImportColumn;
using reader::ImportKind;
using reader::ImportTable;

struct TableObject {
  std::shared_ptr<ImportTable> table = std::make_shared<ImportTable>();
  std::shared_ptr<int> views = std::make_shared<int>();

  // A column's memory is outside: rows stay where they are.
  bool is_shown() const noexcept { return views.use_count() > 1; }
};

struct ColumnObject {
  std::shared_ptr<ImportTable> table;
  const ImportColumn* column;
  std::shared_ptr<int> view;
};

py::object shown_text(std::string_view bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(text);
}

ImportKind kind_of(const std::string& word) {
  if (word == "i") return ImportKind::integer;
  if (word == "r") return ImportKind::real;
  if (word == "t") return ImportKind::text;
  if (word == "b") return ImportKind::blob;
  throw py::value_error("kind must be 'i', 'r', 't' or 'b', not '" + word + "'");
}

ImportColumn& column_of(const TableObject& object, const std::string& name) {
  ImportColumn* column = object.table->find(name);
  if (column == nullptr) throw py::key_error(name);
  return *column;
}

py::object column_object(const TableObject& object, const std::string& name) {
  const ImportColumn& column = column_of(object, name);
  if (column.empty()) return py::none();
  return py::cast(ColumnObject{object.table, &column, object.views});
}

py::buffer_info import_buffer(const ColumnObject& object) {
  const ImportColumn& column = *object.column;
  const bool real = column.kind == ImportKind::real;
  const void* data = real ? static_cast<const void*>(column.reals.data()) : column.integers.data();
  const std::size_t rows = real ? column.reals.size() : column.integers.size();
  return py::buffer_info(const_cast<void*>(data), 8, real ? "d" : "q", 1,
                         {static_cast<py::ssize_t>(rows)}, {py::ssize_t{8}}, true);
}

// The integers of a buffer of any width.
std::vector<std::int64_t> integers_of(const py::buffer& given, const char* name) {
  const py::buffer_info info = given.request();
  const char format = info.format.empty() ? '\0' : info.format.back();
  if (info.ndim != 1 || std::string("bBhHiIlLqQ").find(format) == std::string::npos) {
    throw py::type_error(std::string(name) + " must be a column of integers");
  }
  const bool is_signed = format >= 'a';
  const auto rows = static_cast<std::size_t>(info.shape[0]);
  const auto bits = static_cast<unsigned>(8 * info.itemsize);
  std::vector<std::int64_t> values(rows);
  const auto* at = static_cast<const unsigned char*>(info.ptr);
  const released_gil released;
  for (std::int64_t& value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, static_cast<std::size_t>(info.itemsize));
    if (is_signed && bits < 64 && (word >> (bits - 1) & 1) != 0) word |= ~std::uint64_t{0} << bits;
    value = static_cast<std::int64_t>(word);
    at += info.strides[0];
  }
  return values;
}

std::vector<std::uint8_t> wide_bytes_of(const py::object& given, std::size_t rows) {
  if (given.is_none()) return {};
  const auto view = given.cast<std::string>();
  if (view.size() != rows) throw py::value_error("valid must have a byte for each row");
  return std::vector<std::uint8_t>(view.begin(), view.end());
}

void add_rows(TableObject& object, std::size_t rows) {
  ImportTable& table = *object.table;
  if (table.columns().size() > 1 && table.rows != rows) {
    throw py::value_error("columns of different length");
  }
  table.rows = rows;
}

void add_integers(TableObject& object, const std::string& name, const py::buffer& given,
                  const py::object& valid, const std::string& kind,
                  const std::vector<py::bytes>& texts) {
  std::vector<std::int64_t> values = integers_of(given, "values");
  const std::vector<std::uint8_t> present = wide_bytes_of(valid, values.size());
  ImportColumn& column = object.table->add_column(name, kind_of(kind));
  std::vector<std::int64_t> numbers;
  numbers.reserve(texts.size());
  for (const py::bytes& text : texts) {
    numbers.push_back(column.texts.number(static_cast<std::string_view>(text)));
  }
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!present.empty() && present[row] == 0) continue;
    if (column.kind == ImportKind::integer || column.kind == ImportKind::real) {
      column.add(row, values[row]);
    } else {
      column.add(row, numbers.at(static_cast<std::size_t>(values[row])));
    }
  }
  column.finish(values.size());
  add_rows(object, values.size());
}

void add_reals(TableObject& object, const std::string& name, const py::buffer& given,
               const py::object& valid) {
  const py::buffer_info info = given.request();
  if (info.ndim != 1 || info.format != "d") throw py::type_error("values must be float64");
  const auto rows = static_cast<std::size_t>(info.shape[0]);
  const std::vector<std::uint8_t> present = wide_bytes_of(valid, rows);
  ImportColumn& column = object.table->add_column(name, ImportKind::real);
  for (std::size_t row = 0; row < rows; ++row) {
    double value = 0;
    const auto offset = static_cast<py::ssize_t>(row) * info.strides[0];
    std::memcpy(&value, static_cast<const char*>(info.ptr) + offset, sizeof value);
    if (present.empty() || present[row] != 0) column.add(row, value);
  }
  column.finish(rows);
  add_rows(object, rows);
}

// The words, and where each row begins among them.
py::tuple payloads_of(const TableObject& object, const std::string& name) {
  const ImportColumn& column = column_of(object, name);
  if (column.kind != ImportKind::blob) throw py::value_error("payloads are columns of kind 'b'");
  reader::PayloadPieces pieces;
  {
    const released_gil released;
    pieces = reader::pieces_of(column, object.table->rows);
  }
  const auto view = [](const auto& values, const char* format) {
    const py::bytes bytes(reinterpret_cast<const char*>(values.data()),
                          values.size() * sizeof values[0]);
    return py::memoryview(bytes).attr("cast")(format);
  };
  return py::make_tuple(view(pieces.words, "Q"), view(pieces.begins, "q"));
}

py::list texts_of(const TableObject& object, const std::string& name) {
  py::list list;
  const ImportColumn& column = column_of(object, name);
  for (const std::string& text : column.texts.all()) {
    if (column.kind == ImportKind::blob) {
      list.append(py::bytes(text));
    } else {
      list.append(shown_text(text));
    }
  }
  return list;
}

py::list group(TableObject& object, const std::vector<std::string>& keys,
               const std::vector<std::string>& given) {
  if (object.is_shown()) throw py::value_error("a column of the table is in use");
  std::vector<reader::ImportGroup> groups;
  {
    const released_gil released;
    groups = object.table->group(keys, given);
  }
  py::list list;
  for (const reader::ImportGroup& each : groups) {
    py::list values;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      values.append((each.given >> i & 1) != 0 ? py::object(py::int_(each.keys[i]))
                                               : py::object(py::none()));
    }
    list.append(py::make_tuple(each.begin, each.end, py::tuple(values), each.given >> keys.size()));
  }
  return list;
}

using ColumnWords = std::vector<std::pair<std::string, std::string>>;

reader::WantedColumns wanted_columns(const ColumnWords& columns) {
  reader::WantedColumns wanted;
  wanted.reserve(columns.size());
  for (const auto& [name, kind] : columns) wanted.emplace_back(name, kind_of(kind));
  return wanted;
}

TableObject read_table(reader::SqliteFile& file, const std::string& table,
                       const ColumnWords& columns, const std::string& row_ids) {
  const reader::WantedColumns wanted = wanted_columns(columns);
  TableObject object;
  const released_gil released;
  *object.table = file.read(table, wanted, row_ids);
  return object;
}

std::unique_ptr<reader::SqliteBlocks> blocks_of(const reader::SqliteFile& file,
                                                const std::string& table,
                                                const ColumnWords& columns, std::size_t rows) {
  const reader::WantedColumns wanted = wanted_columns(columns);
  const released_gil released;
  return file.blocks(table, wanted, rows);
}

TableObject next_block(reader::SqliteBlocks& blocks) {
  TableObject object;
  {
    const released_gil released;
    object.table = blocks.next();
  }
  if (object.table == nullptr) throw py::stop_iteration();
  return object;
}

py::dict tables_of(const reader::SqliteFile& file) {
  py::dict tables;
  for (const auto& [name, table] : file.tables()) {
    py::list columns;
    for (const std::string& column : table.columns.names) columns.append(shown_text(column));
    tables[shown_text(name)] = columns;
  }
  return tables;
}

}  // namespace

void bind_import(py::module_& module) {
  py::register_exception<reader::SqliteError>(module, "SqliteError", PyExc_ValueError);
  py::class_<ColumnObject>(module, "ImportColumn", py::buffer_protocol())
      .def_buffer(&import_buffer);
  Methods(py::class_<TableObject>(module, "ImportTable").def(py::init<>()))
      .def("__len__", [](const TableObject& object) { return object.table->rows; })
      .def("add_integers", &add_integers, py::arg("name"), py::arg("values"),
           py::arg("valid") = py::none(), py::arg("kind") = "i",
           py::arg("texts") = std::vector<py::bytes>())
      .def("add_reals", &add_reals, py::arg("name"), py::arg("values"),
           py::arg("valid") = py::none())
      .def("column", &column_object)
      .def("names",
           [](const TableObject& object) {
             py::list names;
             for (const ImportColumn& column : object.table->columns()) {
               names.append(shown_text(column.name));
             }
             return names;
           })
      .def("valid",
           [](const TableObject& object, const std::string& name) -> py::object {
             const ImportColumn& column = column_of(object, name);
             if (column.empty()) return py::bytes(std::string(object.table->rows, '\0'));
             if (column.present.empty()) return py::none();
             return py::bytes(reinterpret_cast<const char*>(column.present.data()),
                              column.present.size());
           })
      .def("texts", &texts_of)
      .def("payloads", &payloads_of, py::arg("name"))
      .def("group", &group)
      .def("look_up",
           [](TableObject& object, const std::string& name, const std::string& column,
              const py::buffer& ids, const py::buffer& values, std::int64_t otherwise) {
             const auto from = integers_of(ids, "ids"), to = integers_of(values, "values");
             const released_gil released;
             object.table->look_up(name, column, from, to, otherwise);
           })
      .def("replace",
           [](TableObject& object, const std::string& column, std::int64_t value, std::int64_t by) {
             if (object.is_shown()) throw py::value_error("a column of the table is in use");
             object.table->replace(column, value, by);
           });
  Methods(py::class_<reader::CallTimes>(module, "CallTimes")
              .def(py::init<std::int64_t>(), py::arg("process_mask")))
      .def("__len__", &reader::CallTimes::size)
      .def(
          "add",
          [](reader::CallTimes& calls, const TableObject& object, const std::string& thread,
             const std::string& correlation, const std::string& start) {
            const ImportColumn& tid = column_of(object, thread);
            const ImportColumn& by = column_of(object, correlation);
            const ImportColumn& at = column_of(object, start);
            const released_gil released;
            calls.add(*object.table, tid, by, at);
          },
          py::arg("table"), py::arg("thread"), py::arg("correlation"), py::arg("start"))
      .def(
          "find",
          [](const reader::CallTimes& calls, TableObject& object, const std::string& process,
             const std::string& correlation, const std::string& start, const std::string& thread) {
            const ImportColumn& of = column_of(object, process);
            const ImportColumn& by = column_of(object, correlation);
            const auto into = [&](const std::string& name) -> ImportColumn& {
              ImportColumn* found = object.table->find(name);
              return found == nullptr ? object.table->add_column(name, ImportKind::integer)
                                      : *found;
            };
            ImportColumn& starts = into(start);
            ImportColumn& threads = into(thread);
            const released_gil released;
            calls.find(*object.table, of, by, starts, threads);
          },
          py::arg("table"), py::arg("process"), py::arg("correlation"), py::arg("start"),
          py::arg("thread"));
  py::class_<reader::SqliteFile> file(module, "SqliteFile");
  file.def(py::init([](const std::string& path) {
    try {
      const released_gil released;
      return std::make_unique<reader::SqliteFile>(path);
    } catch (const std::system_error& error) {
      errno = error.code().value();
      PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
      throw py::error_already_set();
    }
  }));
  Methods(file)
      .def("tables", &tables_of)
      .def("read", &read_table, py::arg("table"), py::arg("columns"), py::arg("row_ids") = "")
      .def("blocks", &blocks_of, py::arg("table"), py::arg("columns"), py::arg("rows"));
  Methods(py::class_<reader::SqliteBlocks>(module, "SqliteBlocks"))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &next_block);
}

}  // namespace nvspan::bindings
