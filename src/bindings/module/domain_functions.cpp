// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Domains, what is registered in them, and colors.
#include "bindings/module/module.hpp"

#include "annotate/tool/attachment.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/support/module_state.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

namespace {

uint32_t color_to_argb(py::handle color) {
  uint32_t argb = 0;
  require(color_from_object(color.ptr(), argb));
  return argb;
}

uint64_t string_handle(py::handle domain, py::handle string) {
  EventFields fields;
  set_domain(fields, domain.ptr());
  const annotate::ToolTable* tool = annotate::listening_tool();
  uint64_t handle = 0;
  const int result = set_message(fields, string.ptr(), false);
  annotate::Outgoing out;
  if (result == 0 && tool && fields.event.text && annotate::prepare(fields.event, *tool, out)) {
    handle = reinterpret_cast<uintptr_t>(fields.event.domain->message_handle(
        *tool, out.epoch, {fields.event.text, fields.event.text_size}));
  }
  clear_fields(fields);
  require(result);
  return handle;
}

// For a RegisteredString.
void request_message(py::handle domain, py::handle string) {
  EventFields fields;
  set_domain(fields, domain.ptr());
  const int result = set_message(fields, string.ptr(), false);
  if (result == 0 && fields.event.text) {
    fields.event.domain->request_message({fields.event.text, fields.event.text_size});
  }
  clear_fields(fields);
  require(result);
}

void set_message_limit(size_t limit, const py::object& domain) {
  if (limit == 0) throw py::value_error("limit must be at least 1, not 0");
  annotate::Domain* one = domain_or_null(domain);
  if (one)
    one->set_message_limit(limit);
  else
    annotate::Domain::set_default_message_limit(limit);
}

void name_category_id(uint32_t id, const py::str& name, const py::object& domain) {
  PyObject* owner = domain_from_object(domain.ptr());
  if (!owner) throw py::error_already_set();
  py_ref utf8 = py_ref::steal(escaped_utf8(name.ptr()));
  if (!utf8) throw py::error_already_set();
  annotate::Domain* core = reinterpret_cast<DomainObject*>(owner)->core;
  if (!core->name_category_id(id, PyBytes_AS_STRING(utf8.get()))) {
    throw py::value_error("category " + std::to_string(id) + " or name '" +
                          PyBytes_AS_STRING(utf8.get()) + "' is already used in this domain");
  }
}

}  // namespace

annotate::Domain* domain_or_null(const py::object& domain) {
  if (domain.is_none()) return nullptr;
  PyObject* found = domain_from_object(domain.ptr());
  if (!found) throw py::error_already_set();
  return reinterpret_cast<DomainObject*>(found)->core;
}

void add_domain_functions(py::module_& m) {
  m.def(
      "get_domain",
      [](const py::object& name) {
        PyObject* domain = domain_from_object(name.ptr());
        if (!domain) throw py::error_already_set();
        return py::reinterpret_borrow<py::object>(domain);
      },
      py::arg("name") = py::none());
  m.def("name_category", name_category_id);
  m.def("set_default_enabled", [](const py::object& domain, bool enabled) {
    domain_or_null(domain)->set_default_enabled(enabled);
  });
  m.def("all_domains", [] {
    PyObject* domains = PyDict_Values(state().event.domains);
    if (!domains) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(domains);
  });
  m.def("color_to_argb", color_to_argb);
  m.def("string_handle", string_handle);
  m.def("request_message", request_message);
  m.def("set_message_limit", set_message_limit, py::arg("limit"), py::arg("domain") = py::none());
}

}  // namespace nvspan::bindings
