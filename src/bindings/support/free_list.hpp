// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Freed objects of one type that are handed out again, so that making one allocates nothing. Under
// the GIL; without one there are none.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

template <class Object, int most>
class FreeList {
 public:
#ifndef Py_GIL_DISABLED
  // A freed object with one reference, as it was when it was kept; null: none.
  Object* take() noexcept {
    if (count_ == 0) return nullptr;
    Object* object = objects_[--count_];
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(object), 1);
    return object;
  }

  // Keeps an object whose last reference is gone. False: there is no room, it is to be freed.
  bool keep(Object* object) noexcept {
    if (count_ == most) return false;
    objects_[count_++] = object;
    return true;
  }

 private:
  Object* objects_[most];
  int count_ = 0;
#else
  Object* take() noexcept { return nullptr; }
  bool keep(Object*) noexcept { return false; }
#endif
};

}  // namespace nvspan::bindings
