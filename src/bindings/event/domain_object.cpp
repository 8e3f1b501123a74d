// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event/domain_object.hpp"

#include <string>

#include "annotate/event/switchboard.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

// An exact str for a name given as str, str subclass or bytes; None for None.
py_ref exact_name(PyObject* value) {
  if (value == Py_None || PyUnicode_CheckExact(value)) return py_ref::borrow(value);
  if (PyUnicode_Check(value)) return py_ref::steal(PyUnicode_FromObject(value));
  if (PyBytes_Check(value)) {
    return py_ref::steal(PyUnicode_DecodeUTF8(PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value),
                                              "backslashreplace"));
  }
  PyErr_Format(PyExc_TypeError, "domain must be a str, bytes, a Domain or None, not %R", value);
  return {};
}

// What the table of domains knows it by: its name, for a subclass beside the type.
py_ref key_of(PyTypeObject* type, PyObject* name) {
  return type == state().event.domain_type ? py_ref::borrow(name)
                                           : py_ref::steal(PyTuple_Pack(2, type, name));
}

}  // namespace

PyObject* make_domain(PyTypeObject* type, PyObject* name) {
  std::string text;
  if (name != Py_None) {
    py_ref utf8 = py_ref::steal(escaped_utf8(name));
    if (!utf8) return nullptr;
    text.assign(PyBytes_AS_STRING(utf8.get()), static_cast<size_t>(PyBytes_GET_SIZE(utf8.get())));
  }
  const py_ref key = key_of(type, name);
  PyObject* object = key ? type->tp_alloc(type, 0) : nullptr;
  if (!object) return nullptr;
  DomainObject* domain = as_domain(object);
  domain->core = &annotate::Domain::get(name == Py_None ? nullptr : &text);
  domain->name = Py_NewRef(name);
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
  // CPython 3.11 looks a method up at each call unless there is one; later ones if there is.
  domain->dict = PyDict_New();
  if (!domain->dict) PyErr_Clear();
#endif
  // Of two threads the first wins.
  PyObject* kept = PyDict_SetDefault(state().event.domains, key.get(), object);
  Py_DECREF(object);
  return kept;
}

PyObject* domain_of_type(PyTypeObject* type, PyObject* domain) {
  if (Py_IS_TYPE(domain, type)) return domain;
  PyObject* name = as_domain(domain)->name;
  const py_ref key = key_of(type, name);
  if (!key) return nullptr;
  PyObject* found = PyDict_GetItemWithError(state().event.domains, key.get());
  return found || PyErr_Occurred() ? found : make_domain(type, name);
}

int category_id_of_name(DomainObject* domain, PyObject* name, annotate::CategoryIds ids,
                        uint32_t& id) {
  py_ref utf8 = py_ref::steal(escaped_utf8(name));
  if (!utf8) return -1;
  id = domain->core->category_id(
      std::string(PyBytes_AS_STRING(utf8.get()), static_cast<size_t>(PyBytes_GET_SIZE(utf8.get()))),
      ids);
  return 0;
}

PyObject* domain_from_object(PyObject* value) {
  if (value == Py_None) return state().event.default_domain;
  if (PyUnicode_CheckExact(value)) {
    PyObject* found = PyDict_GetItemWithError(state().event.domains, value);
    if (found) return found;
    if (PyErr_Occurred()) return nullptr;
    return make_domain(state().event.domain_type, value);
  }
  if (PyObject_TypeCheck(value, state().event.domain_type)) return value;
  py_ref name = exact_name(value);
  return name ? domain_from_object(name.get()) : nullptr;
}

int level_from_object(PyObject* value, uint32_t& level) {
  if (!PyLong_Check(value) || PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "level must be an int, not %R", value);
    return -1;
  }
  const long number = PyLong_AsLong(value);
  if (PyErr_Occurred() || number < 0 || number > static_cast<long>(annotate::highest_level)) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "level %R is outside 0..%u", value, annotate::highest_level);
    return -1;
  }
  level = static_cast<uint32_t>(number);
  return 0;
}

int category_id_from_object(DomainObject* domain, PyObject* value, uint32_t& id) {
  if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    return category_id_of_name(domain, value, annotate::CategoryIds::named, id);
  }
  const PyNumberMethods* methods = Py_TYPE(value)->tp_as_number;
  if (!methods || !(methods->nb_index || methods->nb_int)) {
    PyErr_Format(PyExc_TypeError, "category must be a str, bytes, an int or None, not %R", value);
    return -1;
  }
  py_ref number = py_ref::steal(PyNumber_Long(value));  // of 1.5 it is 1, as with nvtx
  if (!number) return -1;
  const unsigned long long wide = PyLong_AsUnsignedLongLong(number.get());
  if (PyErr_Occurred() || wide > 0xFFFFFFFFull) {
    PyErr_Clear();
    PyErr_Format(state().range_error, "category %R is outside 0..0xFFFFFFFF", value);
    return -1;
  }
  id = static_cast<uint32_t>(wide);
  domain->core->use_category_id(id);
  return 0;
}

void warn_overflow(const annotate::Domain& domain) noexcept {
  const annotate::MessageStats stats = domain.message_stats();
  warn_once_quietly(
      ("overflow " + domain.name()).c_str(),
      "domain '%s' reached its limit of %zu registered names; new names are sent as plain strings. "
      "Move changing data into payload=, or raise nvspan.set_message_limit()",
      domain.is_default() ? "NVTX" : domain.name().c_str(), stats.registered);
}

}  // namespace nvspan::bindings
