// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the extension module keeps for its life, by theme. Only the main interpreter may import the
// module, so one instance serves the process; it is never torn down, because daemon threads may
// still annotate while the interpreter goes away.

#include "bindings/support/py.hpp"

#include <initializer_list>

#include "bindings/support/call_arguments.hpp"
#include "bindings/support/python_hooks.hpp"

namespace nvspan::bindings {

constexpr int device_field_count = 5;

// What nvspan.torch hands over of torch, once; null before.
struct TorchFunctions {
  PyObject* tensor_type;
  PyObject* accumulate_grad_type;  // of the nodes at which parameters' gradients arrive
  PyObject* graph_task_id;         // () -> int, -1 outside of a pass
  PyObject* queue_callback;        // (callable), for the end of a pass
  PyObject* is_grad_enabled;       // () -> bool
  PyObject* sequence_number;       // () -> int: what autograd gives its next node
  PyObject* is_compiling;          // () -> bool
  PyObject* compiler;              // dict of the module that is_compiling looks into
  // Null where torch has not got them.
  PyObject* hooked_tensor;    // a node takes the hooks that it has
  PyObject* current_node;     // () -> the node whose hooks this thread runs, if the engine does
  PyObject* is_node_reached;  // (node) -> bool: the pass runs it or takes its gradient
};

// Attributes of torch's objects, interned.
struct TorchNames {
  PyObject* backward_hooks;
  PyObject* dataclass_fields;
  PyObject* enter;
  PyObject* exit;
  PyObject* grad_fn;
  PyObject* is_compiling_flag;
  PyObject* metadata;
  PyObject* next_functions;
  PyObject* nvspan;
  PyObject* register_hook;
  PyObject* register_hook_dict;
  PyObject* register_prehook;
  PyObject* sequence_nr;
};

struct ModuleState {
  PyObject* module;                    // nvspan._core
  PythonHooks hooks;                   // each null until it is first needed
  PythonFunction hook_loader;          // (name) -> the hook; null until the package is imported
  PyObject* warning_type;              // nvspan.NvspanWarning
  PyObject* range_error;               // of a number out of range: a ValueError and OverflowError
  PyObject* warned;                    // set: what warn_once has said
  PyObject* field_names[field_count];  // interned, in the order of AnnotationField

  struct {
    PyTypeObject* domain_type;
    PyTypeObject* attributes_type;
    PyObject* domains;         // dict: name, or (subclass, name) -> Domain
    PyObject* default_domain;  // Domain of NVTX's default domain
  } event;

  struct {
    PyTypeObject* type;  // annotate
    PyTypeObject* async_step_type;
  } annotation;

  struct {
    PyTypeObject* handle_type;  // RangeHandle
    PyTypeObject* span_type;
  } range;

  struct {
    PyTypeObject* type;  // Counter, the base
    PyTypeObject* int64_type;
    PyTypeObject* float64_type;
    PyTypeObject* ext_type;
  } counter;

  struct {
    PyObject* error;  // nvspan.CheckError
    bool is_strict;   // reports raise
  } check;

  struct {
    PyObject* enabled;        // the Profile, owned; null: none
    PyObject* domain;         // of its events; borrowed, immortal
    PyTypeObject* hook_type;  // before CPython 3.12, and the two below
    PyObject* starter;        // owned: the hook that threading.setprofile has
    PyObject* threading;      // the module
  } profile;

  struct {
    PyTypeObject* handle_type;  // DeviceRangeHandle
    PyTypeObject* range_type;
    PyObject* idle_handle;  // stands for no range
    PyObject* field_names[device_field_count];
  } device;

  struct {
    PyTypeObject* callable_type;
    PyTypeObject* resumer_type;
    PyTypeObject* site_type;
    PyTypeObject* open_span_type;
  } decorate;

  struct {
    PyTypeObject* calls_type;
    PyTypeObject* node_hook_type;
    PyTypeObject* pass_type;
    PyTypeObject* formatted_range_type;
    TorchFunctions functions;
    TorchNames names;
  } torch;
};

namespace detail {
extern ModuleState module_state;
}  // namespace detail

inline ModuleState& state() noexcept { return detail::module_state; }

struct InternedName {
  PyObject** place;
  const char* text;
};

// 0, or -1 with an exception set.
int intern_names(std::initializer_list<InternedName> names);

// Warns once per `topic`. 0, or -1 with an exception set (warnings may be errors).
int warn_once(const char* topic, const char* format, ...);

// As warn_once where no exception may leave: what the warning raises is reported as unraisable.
void warn_once_quietly(const char* topic, const char* format, ...) noexcept;

}  // namespace nvspan::bindings
