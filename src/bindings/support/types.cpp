// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/types.hpp"

#include <vector>

namespace nvspan::bindings {

PyTypeObject* make_type(const char* name, size_t size, unsigned flags,
                        std::initializer_list<PyType_Slot> slots, PyTypeObject* base) {
  std::vector<PyType_Slot> terminated(slots);
  terminated.push_back({0, nullptr});
  PyType_Spec spec = {name, static_cast<int>(size), 0,
                      static_cast<unsigned>(Py_TPFLAGS_DEFAULT) | flags, terminated.data()};
  return reinterpret_cast<PyTypeObject*>(
      PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
}

int add_type(PyObject* module, PyTypeObject* type) {
  return type ? PyModule_AddType(module, type) : -1;
}

}  // namespace nvspan::bindings
