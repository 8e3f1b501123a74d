// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/registry/registry.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "bindings/annotation/annotation.hpp"
#include "bindings/decorate/registry/callable.hpp"
#include "bindings/decorate/registry/site.hpp"
#include "bindings/decorate/runtime/builtins.hpp"
#include "bindings/decorate/runtime/function.hpp"
#include "bindings/decorate/suspended/resume.hpp"
#include "bindings/decorate/suspended/span.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {
namespace {

constexpr const char* registry_name = "_decorated";
constexpr size_t first_prune = 64;

// One decorated function, which its Site knows by a weak reference. The generated code is kept
// here: it owns the Site, so the Site cannot own it.
struct Decoration {
  py_ref site;
  py_ref kind;  // None, "nested" or "span"
  py_ref code;  // generated; nothing: not needed so far

  Site* get() const noexcept { return reinterpret_cast<Site*>(site.get()); }
};

// Guards the registry where no GIL does.
class Lock {
 public:
#if defined(Py_GIL_DISABLED)
  explicit Lock(PyMutex* mutex) noexcept : mutex_(mutex) { PyMutex_Lock(mutex_); }
  ~Lock() { PyMutex_Unlock(mutex_); }

 private:
  PyMutex* mutex_;

 public:
  using Mutex = PyMutex;
#else
  struct Mutex {};
  explicit Lock(Mutex*) noexcept {}
  ~Lock() {}
#endif
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// What the registry knows. Under the GIL, or else under the lock; no method runs Python code while
// it holds either half-changed, so a collection or a decoration may come at any time.
class Decorations {
 public:
  std::atomic<bool> on{true};

  // Throws std::bad_alloc.
  void add(PyObject* function, std::shared_ptr<Decoration> entry) {
    std::vector<std::shared_ptr<Decoration>>
        dead;  // released after the lock: that runs Python code
    Lock lock(&mutex_);
    if (entries_.size() >= prune_at_) prune(&dead);
    entries_.push_back(entry);
    by_address_[function].swap(entry);
  }

  // The entry of a decorated function, or null.
  std::shared_ptr<Decoration> find(PyObject* function) {
    Lock lock(&mutex_);
    auto found = by_address_.find(function);
    if (found == by_address_.end()) return nullptr;
    py_ref target = weak_target(found->second->get()->function);
    return target.get() == function ? found->second : nullptr;
  }

  // Throws std::bad_alloc.
  std::vector<std::shared_ptr<Decoration>> snapshot() {
    Lock lock(&mutex_);
    return entries_;
  }

 private:
  // Drops functions that were freed: amortised, since it runs when their number has doubled.
  void prune(std::vector<std::shared_ptr<Decoration>>* dead) {
    auto is_alive = [](const std::shared_ptr<Decoration>& entry) {
      return static_cast<bool>(weak_target(entry->get()->function));
    };
    dead->reserve(entries_.size());
    auto end = std::stable_partition(entries_.begin(), entries_.end(), is_alive);
    std::move(end, entries_.end(), std::back_inserter(*dead));
    entries_.erase(end, entries_.end());
    for (auto at = by_address_.begin(); at != by_address_.end();) {
      at = is_alive(at->second) ? std::next(at) : by_address_.erase(at);
    }
    prune_at_ = std::max(first_prune, 2 * entries_.size());
  }

  Lock::Mutex mutex_{};
  std::vector<std::shared_ptr<Decoration>> entries_;
  std::unordered_map<PyObject*, std::shared_ptr<Decoration>> by_address_;
  size_t prune_at_ = first_prune;
};

struct DecorationsObject {
  PyObject_HEAD Decorations* decorations;
};

Decorations* decorations_of(PyObject* registry) noexcept {
  return reinterpret_cast<DecorationsObject*>(registry)->decorations;
}

// The user has assigned `__code__`: from now on that is the original. Where it was made from the
// generated code, as types.coroutine() does, the change is carried over to the original.
// 0, or -1 with an exception set.
int adopt(Decoration* entry, PyFunctionObject* function, PyObject* current) {
  Site* site = entry->get();
  py_ref adopted = py_ref::borrow(current);
  if (entry->code && code_calls_site(current, site)) {
    adopted = py_ref::steal(
        call_hook(&PythonHooks::carried_over, site->original_code, entry->code.get(), current));
    if (!adopted || function_set_code(function, adopted.get()) < 0) return -1;
  }
  Py_XSETREF(site->original_code, adopted.release());
  Py_CLEAR(site->wrapped);  // it has the old code
  entry->code = {};
  return 0;
}

// Whether the annotation's domain and level are switched on.
bool switched_on(const Site* site) {
  py_ref annotation = site_annotation(site);
  return annotation && annotation_wanted(annotation.get());
}

int apply_locked(Decorations* decorations, Decoration* entry) {
  Site* site = entry->get();
  py_ref target = weak_target(site->function);
  if (!target) return 0;
  auto* function = reinterpret_cast<PyFunctionObject*>(target.get());
  for (;;) {  // each step may run Python code, after which nothing is certain
    const bool on = decorations->on && switched_on(site);
    py_ref current = py_ref::borrow(function->func_code);
    if (current.get() != site->original_code && current.get() != entry->code.get()) {
      if (adopt(entry, function, current.get()) < 0) return -1;
    } else if (on && !entry->code) {
      entry->code = py_ref::steal(call_hook(&PythonHooks::generate, site->original_code,
                                            entry->kind.get(), entry->site.get()));
      if (!entry->code) return -1;
    } else {
      py_ref wanted = py_ref::borrow(on ? entry->code.get() : site->original_code);
      if (current.get() == wanted.get()) return 0;
      if (function_set_code(function, wanted.get()) < 0) return -1;
    }
  }
}

#if PY_VERSION_HEX < 0x030D0000
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

// Gives the function the code that the present state asks for. 0, or -1 with an exception set.
int apply(Decorations* decorations, Decoration* entry) {
  int result;
  Py_BEGIN_CRITICAL_SECTION(entry->site.get());
  result = apply_locked(decorations, entry);
  Py_END_CRITICAL_SECTION();
  return result;
}

// decorate(function, annotation, kind): a genuine function that opens the annotation around each
// call.
PyObject* registry_decorate(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !PyFunction_Check(arguments[0]) ||
      !PyObject_TypeCheck(arguments[1], state().annotation.type)) {
    PyErr_SetString(PyExc_TypeError, "decorate(function, annotation, kind)");
    return nullptr;
  }
  Decorations* decorations = decorations_of(self);
  auto* original = reinterpret_cast<PyFunctionObject*>(arguments[0]);
  PyObject* annotation = arguments[1];
  try {
    py_ref code = py_ref::borrow(original->func_code);
    if (auto inner = decorations->find(arguments[0])) {
      if (code.get() == inner->code.get()) code = py_ref::borrow(inner->get()->original_code);
    }
    py_ref decorated = function_like(original, code.get());
    if (!decorated || provide_builtins(original->func_builtins) < 0) return nullptr;
    auto entry = std::make_shared<Decoration>();
    entry->site = py_ref::steal(reinterpret_cast<PyObject*>(
        site_new(annotation, code.get(), decorated.get(), arguments[0])));
    if (!entry->site) return nullptr;
    entry->kind = py_ref::borrow(arguments[2]);
    if (decided()) decorations->on = listening();
    decorations->add(decorated.get(), entry);
    if (apply(decorations, entry.get()) < 0) PyErr_WriteUnraisable(decorated.get());
    return decorated.release();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// is_decorated(object)
PyObject* registry_is_decorated(PyObject* self, PyObject* object) {
  return PyBool_FromLong(PyFunction_Check(object) && decorations_of(self)->find(object) != nullptr);
}

// count(): decorated functions that are alive.
PyObject* registry_count(PyObject* self, PyObject*) {
  try {
    Py_ssize_t alive = 0;
    for (const auto& entry : decorations_of(self)->snapshot()) {
      if (weak_target(entry->get()->function)) ++alive;
    }
    return PyLong_FromSsize_t(alive);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// By reference, for serialisers that take code by value.
PyObject* registry_reduce(PyObject*, PyObject*) { return PyUnicode_FromString(registry_name); }

void registry_dealloc(PyObject* self) {
  delete decorations_of(self);
  free_object(self);
}

PyMethodDef registry_methods[] = {
    {"decorate", as_method(registry_decorate), METH_FASTCALL, nullptr},
    {"is_decorated", registry_is_decorated, METH_O, nullptr},
    {"count", registry_count, METH_NOARGS, nullptr},
    {"__reduce__", registry_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int decorated_add_to_module(PyObject* module) {
  if (decorated_site_add_to_module(module) < 0 || decorated_span_init() < 0 ||
      decorated_resume_init() < 0 || decorated_callable_add_to_module(module) < 0) {
    return -1;
  }
  PyTypeObject* type = make_type(
      "nvspan._core._Decorations", sizeof(DecorationsObject), Py_TPFLAGS_DISALLOW_INSTANTIATION,
      {{Py_tp_dealloc, slot(registry_dealloc)}, {Py_tp_methods, registry_methods}});
  py_ref registry = py_ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  Py_XDECREF(reinterpret_cast<PyObject*>(type));
  if (!registry) return -1;
  auto* decorations = new (std::nothrow) Decorations();
  if (decorations == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  reinterpret_cast<DecorationsObject*>(registry.get())->decorations = decorations;
  return PyModule_AddObjectRef(module, registry_name, registry.get());
}

int decorated_set_listening(PyObject* module, bool on) {
  py_ref registry = py_ref::steal(PyObject_GetAttrString(module, registry_name));
  if (!registry) return -1;
  Decorations* decorations = decorations_of(registry.get());
  decorations->on = on;
  try {
    for (const auto& entry : decorations->snapshot()) {
      if (apply(decorations, entry.get()) < 0) {
        PyErr_WriteUnraisable(weak_target(entry->get()->function).get());
      }
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

}  // namespace nvspan::bindings
