// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/range/push_pop.hpp"

#include "annotate/event/open_ranges.hpp"
#include "annotate/layers/check.hpp"
#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/check/host.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_attributes.hpp"
#include "bindings/event/send.hpp"
#include "bindings/range/range_handle.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

constexpr CallForm mark_form = {"mark", 5, event_fields};
constexpr CallForm push_form = {"push_range", 5, event_fields};
constexpr CallForm start_form = {"start_range", 5, event_fields};
constexpr CallForm domain_mark_form = {"mark", 0, attribute_fields};
constexpr CallForm domain_push_form = {"push_range", 0, attribute_fields};
constexpr CallForm domain_start_form = {"start_range", 0, attribute_fields};

void mark_fields(EventFields& fields, bool& failed_lazily) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  send_fields(fields, *tool, failed_lazily,
              [&](const annotate::Outgoing& event) { annotate::send_mark(event, *tool); });
  notice_overflow(fields);
}

// A push that is not sent is recorded too: its pop must not close what was open before.
[[gnu::always_inline]] inline void push_fields(EventFields& fields, bool& failed_lazily) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  const uint64_t epoch = tool ? send_push_of(nullptr, fields, *tool, failed_lazily) : 0;
  annotate::note_push(nullptr, fields.event.domain, epoch);
  if (epoch != 0) notice_overflow(fields);
}

// pop_range in check mode: what it closes, or does not, is looked at and may raise.
PyObject* checked_pop(annotate::Domain& domain) {
  const annotate::check::ExplicitPop explicit_pop;
  if (!with_raising_checks([&] { annotate::pop_domain(domain); })) return nullptr;
  Py_RETURN_NONE;
}

annotate::Span start_fields(EventFields& fields, bool& failed_lazily) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return {};
  const annotate::Span span = send_start_of(fields, *tool, failed_lazily);
  notice_overflow(fields);
  return span;
}

// The same call as before while nobody listens: its arguments are known to be right. What else a
// call may take is in functions of their own, *_call(): beside it they would make the commonest
// call save registers and reserve a stack that it does not use.
[[gnu::always_inline]] inline const Annotation* known_while_idle(const CallForm& form,
                                                                 PyObject* const* args,
                                                                 Py_ssize_t nargs,
                                                                 PyObject* kwnames) noexcept {
  return annotate::tool_possible() ? nullptr : known_message(form, nullptr, args, nargs, kwnames);
}

[[gnu::noinline]] PyObject* mark_call(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_for_call(mark_form, nullptr, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  mark_fields(*annotation->fields, annotation->failed_lazily);
  Py_DECREF(as_object(annotation));
  Py_RETURN_NONE;
}

[[gnu::noinline]] PyObject* push_call(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_for_call(push_form, nullptr, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  push_fields(*annotation->fields, annotation->failed_lazily);
  Py_DECREF(as_object(annotation));
  Py_RETURN_NONE;
}

[[gnu::noinline]] PyObject* start_call(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_for_call(start_form, nullptr, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  const annotate::Span span = start_fields(*annotation->fields, annotation->failed_lazily);
  PyObject* domain = annotation->fields->domain;
  Py_DECREF(as_object(annotation));
  return range_handle_new(span, domain);
}

PyObject* module_mark(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (known_while_idle(mark_form, args, nargs, kwnames)) Py_RETURN_NONE;
  return mark_call(args, nargs, kwnames);
}

PyObject* module_push_range(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Annotation* const known = known_while_idle(push_form, args, nargs, kwnames);
  if (!known) return push_call(args, nargs, kwnames);
  annotate::note_push(nullptr, known->fields->event.domain, 0);
  Py_RETURN_NONE;
}

PyObject* module_start_range(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  const Annotation* const known = known_while_idle(start_form, args, nargs, kwnames);
  return known ? range_handle_new({}, known->fields->domain) : start_call(args, nargs, kwnames);
}

PyObject* module_pop_range(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* name = Py_None;
  if (!single_argument("pop_range", "domain", args, nargs, kwnames, name)) return nullptr;
  PyObject* domain = domain_from_object(name);
  if (!domain) return nullptr;
  annotate::Domain& core = *reinterpret_cast<DomainObject*>(domain)->core;
  if (annotate::checking()) return checked_pop(core);
  annotate::pop_domain(core);
  Py_RETURN_NONE;
}

PyObject* module_end_range(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* handle = nargs == 1 && !kwnames
                         ? args[0]
                         : required_argument("end_range", "range_id", args, nargs, kwnames);
  if (!handle || end_range_handle(handle) < 0) return nullptr;
  Py_RETURN_NONE;
}

// The fields of the commonest call of a Domain method, with an EventAttributes of that domain and
// nothing else. Null: another call.
EventFields* kept_fields(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) noexcept {
  if (nargs != 1 || kwnames || !is_attributes(args[0])) return nullptr;
  EventFields& fields = reinterpret_cast<AttributesObject*>(args[0])->fields;
  return fields.domain == domain ? &fields : nullptr;
}

// As with_domain_fields for any call.
template <class Send>
[[gnu::noinline]] bool with_split_fields(const CallForm& form, PyObject* domain,
                                         PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                                         Send&& send) {
  if (nargs > 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most 1 positional argument (%zd given)",
                 form.function, nargs);
    return false;
  }
  FirstPositional call;
  if (call.read("attributes", args, nargs, kwnames) < 0) return false;
  PyObject* given = call.nargs > 0 ? call.args[0] : Py_None;
  PyObject* const* values = call.args + call.nargs;
  if (given == Py_None) {
    Annotation* annotation = annotation_for_call(form, domain, values, 0, call.kwnames, false);
    if (!annotation) return false;
    send(*annotation->fields, annotation->failed_lazily);
    Py_DECREF(reinterpret_cast<PyObject*>(annotation));
    return true;
  }
  if (!is_attributes(given)) {
    PyErr_Format(PyExc_TypeError, "attributes must be an EventAttributes or None, not %R", given);
    return false;
  }
  auto* attributes = reinterpret_cast<AttributesObject*>(given);
  CallArguments arguments;
  if (parse_call(form, values, 0, call.kwnames, arguments) < 0 ||
      update_attributes(attributes, arguments) < 0) {
    return false;
  }
  bool failed_lazily = false;
  EventFields& fields = attributes->fields;
  if (fields.domain == domain) {
    send(fields, failed_lazily);
    return true;
  }
  EventFields here;
  const bool copied = copy_fields_to_domain(here, fields, domain) == 0;
  if (copied) send(here, failed_lazily);
  clear_fields(here);
  return copied;
}

// Calls `send(fields, failed_lazily)` with the attributes that a Domain method was given.
template <class Send>
[[gnu::always_inline]] inline bool with_domain_fields(const CallForm& form, PyObject* domain,
                                                      PyObject* const* args, Py_ssize_t nargs,
                                                      PyObject* kwnames, Send&& send) {
  EventFields* const fields = kept_fields(domain, args, nargs, kwnames);
  if (!fields) return with_split_fields(form, domain, args, nargs, kwnames, send);
  bool failed_lazily = false;
  send(*fields, failed_lazily);
  return true;
}

[[gnu::noinline]] PyObject* push_in_domain(PyObject* domain, PyObject* const* args,
                                           Py_ssize_t nargs, PyObject* kwnames) {
  const auto send = [](EventFields& fields, bool& failed) { push_fields(fields, failed); };
  if (!with_domain_fields(domain_push_form, domain, args, nargs, kwnames, send)) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef push_pop_functions[] = {
    {"mark", as_method(module_mark), METH_FASTCALL | METH_KEYWORDS,
     "mark(message=None, color='blue', domain=None, category=None, payload=None)\n--\n\n"
     "Sends an instantaneous event.\n\n"
     "Arguments as for annotate. Any thread; after a fork the child's events are its own.\n\n"
     ">>> import nvspan\n"
     ">>> nvspan.mark('checkpoint saved', color='green', payload=3)\n"},
    {"push_range", as_method(module_push_range), METH_FASTCALL | METH_KEYWORDS,
     "push_range(message=None, color='blue', domain=None, category=None, payload=None)\n--\n\n"
     "Opens a range nested in this thread's open ranges of the domain; close it with pop_range on\n"
     "the same thread. Prefer `with annotate(...)`, which cannot be left open.\n\n"
     ">>> import nvspan\n"
     ">>> nvspan.push_range('load')\n"
     ">>> nvspan.pop_range()\n"},
    {"pop_range", as_method(module_pop_range), METH_FASTCALL | METH_KEYWORDS,
     "pop_range(domain=None)\n--\n\n"
     "Closes this thread's innermost open range of the domain."},
    {"start_range", as_method(module_start_range), METH_FASTCALL | METH_KEYWORDS,
     "start_range(message=None, color=None, domain=None, category=None, payload=None)\n--\n\n"
     "Starts a range that any thread may end, in any order, with end_range.\n\n"
     "Returns an opaque handle that unpacks as (range_id, domain).\n\n"
     ">>> import nvspan\n"
     ">>> handle = nvspan.start_range('request', payload=17)\n"
     ">>> nvspan.end_range(handle)\n"},
    {"end_range", as_method(module_end_range), METH_FASTCALL | METH_KEYWORDS,
     "end_range(range_id)\n--\n\n"
     "Ends a range by the handle of start_range, from any thread. None, and a handle that was "
     "ended\n"
     "before, are ignored; anything else is a TypeError."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* domain_mark(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                      PyObject* kwnames) {
  if (!with_domain_fields(domain_mark_form, domain, args, nargs, kwnames, mark_fields))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* domain_push_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  if (!annotate::tool_possible()) {
    if (const EventFields* fields = kept_fields(domain, args, nargs, kwnames)) {
      annotate::note_push(nullptr, fields->event.domain, 0);
      Py_RETURN_NONE;
    }
  }
  return push_in_domain(domain, args, nargs, kwnames);
}

PyObject* domain_pop_range(PyObject* domain, PyObject*) {
  annotate::Domain& core = *reinterpret_cast<DomainObject*>(domain)->core;
  if (annotate::checking()) return checked_pop(core);
  annotate::pop_domain(core);
  Py_RETURN_NONE;
}

PyObject* domain_start_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  annotate::Span span;
  const auto send = [&](EventFields& fields, bool& failed) { span = start_fields(fields, failed); };
  if (!with_domain_fields(domain_start_form, domain, args, nargs, kwnames, send)) return nullptr;
  return PyLong_FromUnsignedLongLong(span.id);
}

PyObject* domain_end_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames) {
  PyObject* range_id = required_argument("end_range", "range_id", args, nargs, kwnames);
  if (!range_id) return nullptr;
  if (!PyLong_Check(range_id)) {
    return PyErr_Format(PyExc_TypeError, "range_id must be an int from start_range, not %R",
                        range_id);
  }
  const unsigned long long id = PyLong_AsUnsignedLongLong(range_id);
  if (PyErr_Occurred()) return nullptr;
  if (end_range_by_id(*reinterpret_cast<DomainObject*>(domain)->core, id) < 0) return nullptr;
  Py_RETURN_NONE;
}

int ranges_add_to_module(PyObject* module) {
  return PyModule_AddFunctions(module, push_pop_functions);
}

}  // namespace nvspan::bindings
