// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loading a shared library at run time. A library opened here is never closed: function pointers
// taken from it must stay valid for the life of the process.

#include <string>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace nvspan::core {

class Library {
 public:
  Library() = default;

  // Opens `path`; on failure the result is empty and `error` says why.
  static Library open(const std::string& path, std::string& error) {
    Library library;
#if defined(_WIN32)
    library.handle_ = reinterpret_cast<void*>(LoadLibraryA(path.c_str()));
    if (!library.handle_) error = "LoadLibrary failed with code " + std::to_string(GetLastError());
#else
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library.handle_) {
      const char* reason = dlerror();
      error = reason ? reason : "dlopen failed";
    }
#endif
    return library;
  }

  // The library at `path` if it is already loaded in this process, else empty; never loads it.
  static Library loaded(const char* path) noexcept {
    Library library;
#if defined(_WIN32)
    library.handle_ = reinterpret_cast<void*>(GetModuleHandleA(path));
#else
    library.handle_ = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library.handle_) dlclose(library.handle_);
#endif
    return library;
  }
  static bool resident(const char* path) noexcept { return static_cast<bool>(loaded(path)); }

  template <class Function>
  Function symbol(const char* name) const noexcept {
#if defined(_WIN32)
    return reinterpret_cast<Function>(
        reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name)));
#else
    return reinterpret_cast<Function>(dlsym(handle_, name));
#endif
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  void* handle_ = nullptr;
};

// The path of the library that `function` lies in; empty if it cannot be told.
inline std::string library_of(void (*function)()) {
#if defined(_WIN32)
  HMODULE module = nullptr;
  char path[MAX_PATH];
  const DWORD flags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!GetModuleHandleExA(flags, reinterpret_cast<LPCSTR>(function), &module)) return {};
  return std::string(path, GetModuleFileNameA(module, path, MAX_PATH));
#else
  Dl_info found;
  if (dladdr(reinterpret_cast<void*>(function), &found) == 0 || !found.dli_fname) return {};
  return found.dli_fname;
#endif
}

}  // namespace nvspan::core
