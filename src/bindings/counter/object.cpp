// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/counter/object.hpp"

#include <cstddef>
#include <new>

#include "annotate/payload/counters.hpp"
#include "bindings/counter/samples.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/payload/encoder.hpp"
#include "bindings/payload/numpy.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

struct CounterObject {
  PyObject_HEAD annotate::Counter* core;
  PyObject* domain;
  PyObject* name;
  PyObject* dtype;
  PyObject* description;
  PyObject* scope;
  PyObject* semantics;
  PyObject* time_domain;
  PyObject* native_dtype;  // of an ExtCounter: dtype in this machine's byte order
  SamplePacker* packer;    // of an ExtCounter
  size_t item_size;
  bool is_group;
  bool has_timestamp;  // within the samples
  PyObject* weak_references;
};

CounterObject* as_counter(PyObject* object) noexcept {
  return reinterpret_cast<CounterObject*>(object);
}

int describe_samples(CounterObject* counter, annotate::CounterDescription& description) {
  py_ref fields = py_ref::steal(PyObject_GetAttrString(counter->dtype, "fields"));
  py_ref size = py_ref::steal(PyObject_GetAttrString(counter->dtype, "itemsize"));
  if (!fields || !size) return -1;
  counter->item_size = PyLong_AsSize_t(size.get());
  counter->is_group = fields.get() != Py_None;
  counter->native_dtype = dtype_is_native(counter->dtype) ? Py_NewRef(counter->dtype)
                                                          : native_dtype(counter->dtype).release();
  if (!counter->native_dtype || PyErr_Occurred()) return -1;
  description.schema =
      counter->is_group ? counter_group_schema(counter->dtype) : schema_of_dtype(counter->dtype);
  if (!description.schema) return -1;
  for (const annotate::SchemaEntry& entry : description.schema->description().entries) {
    if (entry.flags & nvtx::entry_flag::timestamp) counter->has_timestamp = true;
  }
  counter->packer = new SamplePacker;
  counter->packer->prepare(*description.schema, counter->is_group, counter->item_size);
  return 0;
}

// --- the types -------------------------------------------------------------------------------

// UTF-8 without zeros, as the tool gets it.
int tool_text(PyObject* value, const char* argument, std::string& text) {
  if (!PyUnicode_Check(value) && !PyBytes_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str or bytes, not %R", argument, value);
    return -1;
  }
  py_ref utf8 = py_ref::steal(escaped_utf8(value));
  if (!utf8) return -1;
  text.assign(PyBytes_AS_STRING(utf8.get()), static_cast<size_t>(PyBytes_GET_SIZE(utf8.get())));
  return 0;
}

int describe(CounterObject* counter, PyTypeObject* type,
             annotate::CounterDescription& description) {
  if (tool_text(counter->name, "name", description.name) < 0) return -1;
  if (counter->description != Py_None) {
    description.description.emplace();
    if (tool_text(counter->description, "description", *description.description) < 0) return -1;
  }
  py_ref path;
  if (scope_from_object(counter->scope, path, description.scope) < 0) return -1;
  if (path) description.scope_path = PyBytes_AS_STRING(path.get());
  if (counter->semantics != Py_None) {
    description.meaning.emplace();
    if (counter_meaning_from_object(counter->semantics, *description.meaning) < 0) return -1;
  }
  if (number_of_choice(counter->time_domain, "time_domain", description.time_domain) < 0) return -1;
  if (type == state().counter.int64_type) {
    description.type = nvtx::entry_type::int64;
    counter->item_size = sizeof(int64_t);
    return 0;
  }
  if (type == state().counter.float64_type) {
    description.type = nvtx::entry_type::float64;
    counter->item_size = sizeof(double);
    return 0;
  }
  return describe_samples(counter, description);
}

PyObject* counter_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"domain", "name",      "dtype",       "description",
                                      "scope",  "semantics", "time_domain", nullptr};
  PyObject* values[7] = {};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOO:Counter", const_cast<char**>(names),
                                   &values[0], &values[1], &values[2], &values[3], &values[4],
                                   &values[5], &values[6])) {
    return nullptr;
  }
  if (type == state().counter.type) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "Use Domain.get_counter() to create a concrete counter.");
    return nullptr;
  }
  PyObject* domain = domain_from_object(values[0]);
  if (!domain) return nullptr;
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  py_ref owner = py_ref::steal(object);
  CounterObject* counter = as_counter(object);
  counter->domain = Py_NewRef(domain);
  counter->name = Py_NewRef(values[1]);
  counter->dtype = Py_NewRef(values[2]);
  counter->description = Py_NewRef(values[3]);
  counter->scope = Py_NewRef(values[4]);
  counter->semantics = Py_NewRef(values[5]);
  counter->time_domain = Py_NewRef(values[6]);
  try {
    annotate::CounterDescription description;
    if (describe(counter, type, description) < 0) return nullptr;
    counter->core = new annotate::Counter(*reinterpret_cast<DomainObject*>(domain)->core,
                                          std::move(description));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  counter->core->prepare();
  return owner.release();
}

void counter_dealloc(PyObject* object) {
  CounterObject* counter = as_counter(object);
  if (counter->weak_references) PyObject_ClearWeakRefs(object);
  delete counter->core;
  delete counter->packer;
  for (PyObject** slot :
       {&counter->domain, &counter->name, &counter->dtype, &counter->description, &counter->scope,
        &counter->semantics, &counter->time_domain, &counter->native_dtype}) {
    Py_CLEAR(*slot);
  }
  free_object(object);
}

PyObject* counter_repr(PyObject* object) {
  const CounterObject* counter = as_counter(object);
  return PyUnicode_FromFormat("%s(%R, %R, dtype=%R)", Py_TYPE(object)->tp_name,
                              reinterpret_cast<DomainObject*>(counter->domain)->name, counter->name,
                              counter->dtype);
}

// The integer in a number, cut as int() cuts it; text is none. -1 with an exception set.
int64_t integer_of(PyObject* value) {
  if (PyLong_CheckExact(value)) return PyLong_AsLongLong(value);
  const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
  py_ref integer = number && number->nb_int && !PyIndex_Check(value)
                       ? py_ref::steal(PyNumber_Long(value))
                       : py_ref::steal(PyNumber_Index(value));
  return integer ? PyLong_AsLongLong(integer.get()) : -1;
}

PyObject* int64_sample(PyObject* object, PyObject* value) {
  const int64_t number = integer_of(value);
  if (number == -1 && PyErr_Occurred()) return nullptr;
  as_counter(object)->core->sample(number);
  Py_RETURN_NONE;
}

PyObject* float64_sample(PyObject* object, PyObject* value) {
  const double number =
      PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) return nullptr;
  as_counter(object)->core->sample(number);
  Py_RETURN_NONE;
}

// numpy.ascontiguousarray(value, dtype); null with an exception set.
py_ref contiguous_array(PyObject* value, PyObject* dtype) {
  PyObject* numpy = loaded_numpy();
  if (!numpy) PyErr_SetString(PyExc_RuntimeError, "numpy is not loaded");
  return call_method(numpy, "ascontiguousarray", value, dtype);
}

PyObject* ext_sample(PyObject* object, PyObject* value) {
  CounterObject* counter = as_counter(object);
  alignas(16) unsigned char packed[SamplePacker::largest];
  if (counter->packer->pack(value, packed)) {
    counter->core->sample(packed, counter->item_size);
    Py_RETURN_NONE;
  }
  const py_ref array = contiguous_array(value, counter->native_dtype);
  const ContiguousView view(array.get());
  if (!view) return nullptr;
  if (view.size() != counter->item_size) {
    return PyErr_Format(PyExc_ValueError,
                        "sample() takes one sample of dtype %S (%zu bytes), not %zu bytes. Use "
                        "batch_submit() for several",
                        counter->dtype, counter->item_size, view.size());
  }
  counter->core->sample(view.data(), view.size());
  Py_RETURN_NONE;
}

PyObject* sample_no_value(PyObject* object, PyObject* reason) {
  py_ref number = py_ref::steal(PyObject_GetAttrString(reason, "value"));
  if (!number || !PyLong_Check(number.get())) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "reason must be a CounterNoValueReason, not %R", reason);
  }
  const long value = PyLong_AsLong(number.get());
  constexpr long largest = 255;
  if (value < 0 || value > largest) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "reason must be a CounterNoValueReason, not %R", reason);
  }
  as_counter(object)->core->sample_no_value(static_cast<uint8_t>(value));
  Py_RETURN_NONE;
}

// 64-bit ints ("q") or floats ("d") without gaps; null with an exception set.
py_ref number_column(PyObject* values, const char* code) {
  const py_ref text = py_ref::steal(PyUnicode_InternFromString(code));
  if (text && is_numpy_array(values)) return contiguous_array(values, text.get());
  return py_ref::steal(text ? call_hook(&PythonHooks::number_column, values, text.get()) : nullptr);
}

PyObject* batch_submit(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"values", "timestamps", nullptr};
  PyObject* values = nullptr;
  PyObject* timestamps = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:batch_submit", const_cast<char**>(names),
                                   &values, &timestamps)) {
    return nullptr;
  }
  CounterObject* counter = as_counter(object);
  const bool floats = Py_IS_TYPE(object, state().counter.float64_type);
  const py_ref column = counter->packer ? contiguous_array(values, counter->native_dtype)
                                        : number_column(values, floats ? "d" : "q");
  const ContiguousView samples(column.get());
  if (!samples) return nullptr;
  if (timestamps == Py_None && counter->has_timestamp) {
    counter->core->submit(samples.data(), samples.size(), nullptr, 0);
    Py_RETURN_NONE;
  }
  if (timestamps == Py_None) {
    PyErr_SetString(PyExc_TypeError, "batch_submit() needs timestamps: the samples have none");
    return nullptr;
  }
  const py_ref time_column = number_column(timestamps, "q");
  const ContiguousView times(time_column.get());
  if (!times) return nullptr;
  const size_t count = counter->item_size ? samples.size() / counter->item_size : 0;
  if (times.size() / sizeof(int64_t) != count) {
    PyErr_SetString(PyExc_ValueError, "values and timestamps must have the same length.");
    return nullptr;
  }
  counter->core->submit(count ? samples.data() : nullptr, samples.size(),
                        count ? static_cast<const int64_t*>(times.data()) : nullptr, count);
  Py_RETURN_NONE;
}

PyObject* abstract_call(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "Use Domain.get_counter() to create a concrete counter.");
  return nullptr;
}

PyObject* counter_reduce(PyObject* object, PyObject*) {
  return PyErr_Format(PyExc_TypeError,
                      "cannot pickle a %s: call get_counter() in the other process",
                      Py_TYPE(object)->tp_name);
}

PyObject* counter_copy(PyObject* object, PyObject*) { return Py_NewRef(object); }

PyMemberDef counter_members[] = {
    {"domain", T_OBJECT, offsetof(CounterObject, domain), READONLY, "The Domain."},
    {"name", T_OBJECT, offsetof(CounterObject, name), READONLY, "The name as given."},
    {"dtype", T_OBJECT, offsetof(CounterObject, dtype), READONLY,
     "int, float or the numpy dtype of a sample."},
    {"description", T_OBJECT, offsetof(CounterObject, description), READONLY, "As given, or None."},
    {"scope", T_OBJECT, offsetof(CounterObject, scope), READONLY, "As given, or None."},
    {"semantics", T_OBJECT, offsetof(CounterObject, semantics), READONLY,
     "The CounterSemantics, or None."},
    {"time_domain", T_OBJECT, offsetof(CounterObject, time_domain), READONLY,
     "The number of the TimestampType."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CounterObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr char sample_doc[] =
    "sample($self, value, /)\n--\n\nRecords one sample, with the tool's time of the call.";
constexpr char batch_doc[] =
    "batch_submit($self, values, timestamps=None)\n--\n\n"
    "Records samples with times of the counter's time domain. A numpy array, or another buffer, "
    "of\n"
    "the counter's own type is passed on without a copy. ValueError: the lengths differ.";
constexpr char no_value_doc[] =
    "sample_no_value($self, reason, /)\n--\n\nRecords that there is no value now, and why.";

PyMethodDef base_methods[] = {
    {"sample", as_method(abstract_call), METH_VARARGS | METH_KEYWORDS, sample_doc},
    {"batch_submit", as_method(abstract_call), METH_VARARGS | METH_KEYWORDS, batch_doc},
    {"sample_no_value", as_method(sample_no_value), METH_O, no_value_doc},
    {"__reduce__", as_method(counter_reduce), METH_NOARGS, nullptr},
    {"__copy__", as_method(counter_copy), METH_NOARGS, nullptr},
    {"__deepcopy__", as_method(counter_copy), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef int64_methods[] = {
    {"sample", as_method(int64_sample), METH_O, sample_doc},
    {"batch_submit", as_method(batch_submit), METH_VARARGS | METH_KEYWORDS, batch_doc},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef float64_methods[] = {
    {"sample", as_method(float64_sample), METH_O, sample_doc},
    {"batch_submit", as_method(batch_submit), METH_VARARGS | METH_KEYWORDS, batch_doc},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef ext_methods[] = {
    {"sample", as_method(ext_sample), METH_O, sample_doc},
    {"batch_submit", as_method(batch_submit), METH_VARARGS | METH_KEYWORDS, batch_doc},
    {nullptr, nullptr, 0, nullptr}};

const char base_doc[] =
    "A value over time; made by Domain.get_counter, which returns one of Int64Counter, "
    "Float64Counter\n"
    "and ExtCounter. Any thread may sample. Arguments are checked with and without a tool.";
const char int64_doc[] = "A counter of signed 64-bit ints.";
const char float64_doc[] = "A counter of floats.";
const char ext_doc[] =
    "A counter of samples of a numpy dtype; with fields, a group of counters sampled together.";

// One of the types that Counter is the base of; without one, Counter itself.
PyTypeObject* counter_type(const char* name, PyMethodDef* methods, const char* doc,
                           PyTypeObject* base) {
  return make_type(name, sizeof(CounterObject), base ? 0 : Py_TPFLAGS_BASETYPE,
                   {{Py_tp_new, slot(counter_new)},
                    {Py_tp_dealloc, slot(counter_dealloc)},
                    {Py_tp_repr, slot(counter_repr)},
                    {Py_tp_methods, methods},
                    {Py_tp_doc, const_cast<char*>(doc)},
                    {base ? 0 : Py_tp_members, counter_members}},
                   base);
}

}  // namespace

int number_of_choice(PyObject* value, const char* argument, uint64_t& number) {
  py_ref behind = PyLong_Check(value) ? py_ref::borrow(value)
                                      : py_ref::steal(PyObject_GetAttrString(value, "value"));
  if (behind && PyLong_Check(behind.get())) {
    number = PyLong_AsUnsignedLongLong(behind.get());
    if (!PyErr_Occurred()) return 0;
  }
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "%s must be a member of its enum, not %R", argument, value);
  return -1;
}

int scope_from_object(PyObject* value, py_ref& path, uint64_t& predefined) {
  predefined = 0;
  if (value == Py_None) return 0;
  if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    path = py_ref::steal(escaped_utf8(value));
    return path ? 0 : -1;
  }
  return number_of_choice(value, "scope", predefined);
}

int counter_object_add_to_module(PyObject* module) {
  auto& types = state().counter;
  types.type = counter_type("nvspan.Counter", base_methods, base_doc, nullptr);
  if (add_type(module, types.type) < 0) return -1;
  types.int64_type = counter_type("nvspan.Int64Counter", int64_methods, int64_doc, types.type);
  types.float64_type =
      counter_type("nvspan.Float64Counter", float64_methods, float64_doc, types.type);
  types.ext_type = counter_type("nvspan.ExtCounter", ext_methods, ext_doc, types.type);
  if (add_type(module, types.int64_type) < 0 || add_type(module, types.float64_type) < 0) return -1;
  return add_type(module, types.ext_type);
}

}  // namespace nvspan::bindings
