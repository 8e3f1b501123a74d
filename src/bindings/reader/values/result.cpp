// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/values/result.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {

class ResultClass {
 public:
  struct Slot {
    const char* name;
    PyMemberDef* member;
    unsigned kinds;  // a bit for each type that the annotation allows
  };

  explicit ResultClass(py::handle type);

  PyTypeObject* type;  // kept for the life of the process
  std::vector<Slot> slots;
};

namespace {

// Written while the module is imported, only read afterwards.
std::map<std::string, ResultClass, std::less<>> classes;

constexpr unsigned other_kind = 1u << 7;  // lists, bytes, columns and results are not told apart

unsigned kind_of(PyObject* value) noexcept {
  if (value == Py_None) return 1u << 0;
  const PyTypeObject* const types[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyUnicode_Type};
  for (unsigned i = 0; i < 4; ++i) {
    if (Py_TYPE(value) == types[i]) return 2u << i;
  }
  return other_kind;
}

// The bits of an annotation such as "int | None".
unsigned kinds_of(std::string_view annotation) {
  static constexpr std::string_view words[] = {"None", "bool", "int", "float", "str"};
  unsigned kinds = 0;
  while (!annotation.empty()) {
    const std::string_view word = annotation.substr(0, annotation.find(" | "));
    unsigned kind = other_kind;
    for (unsigned i = 0; i < 5; ++i) {
      if (word == words[i]) kind = 1u << i;
    }
    kinds |= kind;
    annotation.remove_prefix(std::min(annotation.size(), word.size() + 3));
  }
  return kinds;
}

[[noreturn]] void refuse(const ResultClass& of, const char* field, const char* why,
                         const char* type = "") {
  PyErr_Format(PyExc_SystemError, "%s.%s %s%s", of.type->tp_name, field, why, type);
  throw py::error_already_set();
}

const ResultClass& class_called(std::string_view name) {
  const auto found = classes.find(name);
  if (found != classes.end()) return found->second;
  PyErr_Format(PyExc_SystemError, "nvspan._results has no class %s", std::string(name).c_str());
  throw py::error_already_set();
}

}  // namespace

ResultClass::ResultClass(py::handle of)
    : type(reinterpret_cast<PyTypeObject*>(of.inc_ref().ptr())) {
  const py::dict annotations = of.attr("_types");
  for (const auto& [field, annotation] : annotations) {
    const py::object descriptor = of.attr(field);
    auto* const member = reinterpret_cast<PyMemberDescrObject*>(descriptor.ptr())->d_member;
    slots.push_back({member->name, member, kinds_of(py::cast<std::string>(annotation))});
  }
  if (slots.size() > 64) refuse(*this, "", "has more than 64 fields");
}

py::object number_or_none(std::int64_t number) {
  if (number < 0) return py::none();
  return py::int_(number);
}

void load_result_classes() {
  for (const py::handle type : py::module_::import("nvspan._results").attr("RESULTS")) {
    classes.emplace(py::cast<std::string>(type.attr("__name__")), ResultClass(type));
  }
}

NewResult::NewResult(std::string_view class_name)
    : class_(class_called(class_name)),
      object_(py::reinterpret_steal<py::object>(class_.type->tp_alloc(class_.type, 0))) {
  if (!object_) throw py::error_already_set();
}

void NewResult::set(const char* name, PyObject* value) {
  const py_ref held = py_ref::steal(value);
  if (!held) throw py::error_already_set();
  const std::vector<ResultClass::Slot>& slots = class_.slots;
  std::size_t at = next_;
  for (std::size_t seen = 0; at >= slots.size() || std::strcmp(slots[at].name, name) != 0;) {
    if (seen == slots.size()) refuse(class_, name, "is no field");
    at = seen++;
  }
  if ((slots[at].kinds & kind_of(value)) == 0) {
    refuse(class_, name, "cannot be of type ", Py_TYPE(value)->tp_name);
  }
  if (PyMember_SetOne(reinterpret_cast<char*>(object_.ptr()), slots[at].member, value) != 0) {
    throw py::error_already_set();
  }
  filled_ |= std::uint64_t{1} << at;
  next_ = at + 1;
}

void NewResult::set_text(const char* name, std::string_view value) {
  set(name,
      PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "surrogateescape"));
}

py::object NewResult::done() {
  for (std::size_t i = 0; i < class_.slots.size(); ++i) {
    if ((filled_ >> i & 1) == 0) set(class_.slots[i].name, Py_NewRef(Py_None));
  }
  return std::move(object_);
}

}  // namespace nvspan::bindings
