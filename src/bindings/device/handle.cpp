// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/handle.hpp"

#include "bindings/support/free_list.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

struct DeviceHandle {
  PyObject_HEAD cuda::DeviceRange* range;  // one reference; null: no range
};

FreeList<DeviceHandle, 64> free_handles;

DeviceHandle* as_handle(PyObject* object) noexcept {
  return reinterpret_cast<DeviceHandle*>(object);
}

void handle_dealloc(PyObject* object) {
  if (cuda::DeviceRange* range = as_handle(object)->range) {
    if (range->phase.now() == cuda::Phase::open) cuda::abandon_range(range);
    cuda::release(range);
  }
  if (free_handles.keep(as_handle(object))) return;
  free_object(object);
}

PyObject* handle_done(PyObject* object, PyObject*) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  return PyBool_FromLong(!range || cuda::is_done(range));
}

PyObject* handle_elapsed(PyObject* object, PyObject*) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  if (!range || !range->timed || !cuda::is_done(range)) Py_RETURN_NONE;
  const double ms = range->elapsed_ms.load(std::memory_order_acquire);
  if (ms < 0) Py_RETURN_NONE;
  return PyFloat_FromDouble(ms);
}

PyObject* handle_await(PyObject* object) {
  return call_hook(&PythonHooks::wait_for_device_range, object);
}

PyObject* handle_lost(PyObject* object, void*) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  return PyBool_FromLong(range && range->phase.now() == cuda::Phase::lost);
}

PyObject* handle_timed(PyObject* object, void*) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  return PyBool_FromLong(range && range->timed);
}

PyObject* handle_backend(PyObject* object, void*) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  if (!range) Py_RETURN_NONE;
  return PyUnicode_FromString(range->backend == cuda::Backend::exact ? "exact" : "callback");
}

PyObject* handle_repr(PyObject* object) {
  const cuda::DeviceRange* range = as_handle(object)->range;
  if (!range) return PyUnicode_FromString("DeviceRangeHandle(idle)");
  static const char* const names[] = {"open", "ended", "done", "lost"};
  return PyUnicode_FromFormat("DeviceRangeHandle(%llu, %s)",
                              static_cast<unsigned long long>(range->origin.launch),
                              names[static_cast<size_t>(range->phase.now())]);
}

PyMethodDef device_handle_methods[] = {
    {"done", as_method(handle_done), METH_NOARGS,
     "done($self)\n--\n\n"
     "Whether the GPU has finished the range, or the range was lost. Does not wait. A handle for "
     "which\n"
     "nothing was placed is done at once; a captured range after its first replay."},
    {"elapsed", as_method(handle_elapsed), METH_NOARGS,
     "elapsed($self)\n--\n\n"
     "The range's time on the GPU in milliseconds; None until it is done, and for a handle "
     "without\n"
     "timing=True. For a captured range the time of its latest replay that was read."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef device_handle_properties[] = {
    {"lost", handle_lost, nullptr, "Whether the range was given up; device_stats() says why.",
     nullptr},
    {"timed", handle_timed, nullptr, "Whether elapsed() will return a time.", nullptr},
    {"backend", handle_backend, nullptr, "'exact', 'callback', or None where nothing was placed.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char device_handle_documentation[] =
    "What start_device_range and `with device_range(...) as handle` give: one range on its way\n"
    "through the GPU. May be passed to any thread. Can be awaited: `await handle` returns "
    "elapsed()\n"
    "when the range is done.";

}  // namespace

PyObject* device_handle_new(cuda::DeviceRange* range) {
  if (!range && state().device.idle_handle) return Py_NewRef(state().device.idle_handle);
  DeviceHandle* handle = free_handles.take();
  if (!handle) handle = PyObject_New(DeviceHandle, state().device.handle_type);
  if (!handle) {
    cuda::release(range);
    return nullptr;
  }
  handle->range = range;
  return reinterpret_cast<PyObject*>(handle);
}

bool is_device_handle(PyObject* object) noexcept {
  return Py_IS_TYPE(object, state().device.handle_type);
}

cuda::DeviceRange* range_of_handle(PyObject* handle) noexcept { return as_handle(handle)->range; }

void end_device_handle(PyObject* handle, const cuda::Target* other) noexcept {
  cuda::DeviceRange* range = as_handle(handle)->range;
  if (!range || range->phase.now() != cuda::Phase::open) return;
  const released_gil released;
  cuda::end_range(range, other);
}

int device_handle_add_to_module(PyObject* module) {
  state().device.handle_type =
      make_type("nvspan.DeviceRangeHandle", sizeof(DeviceHandle), Py_TPFLAGS_DISALLOW_INSTANTIATION,
                {{Py_tp_dealloc, slot(handle_dealloc)},
                 {Py_tp_repr, slot(handle_repr)},
                 {Py_tp_methods, device_handle_methods},
                 {Py_tp_getset, device_handle_properties},
                 {Py_am_await, slot(handle_await)},
                 {Py_tp_doc, const_cast<char*>(device_handle_documentation)}});
  if (add_type(module, state().device.handle_type) < 0) return -1;
  state().device.idle_handle = device_handle_new(nullptr);
  return state().device.idle_handle ? 0 : -1;
}

}  // namespace nvspan::bindings
