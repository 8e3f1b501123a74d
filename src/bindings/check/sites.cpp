// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/check/sites.hpp"

#include <unordered_map>
#include <vector>

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#endif

namespace nvspan::bindings {

namespace {

constexpr size_t most_sites = 100000;  // bounds a program that makes code as it goes
constexpr uint32_t transparent = 0xFFFFFFFF;

struct Instruction {
  PyCodeObject* code;  // owned by the table: its address is not used again
  int offset;

  bool operator==(const Instruction& other) const noexcept {
    return code == other.code && offset == other.offset;
  }
};

struct InstructionHash {
  size_t operator()(const Instruction& it) const noexcept {
    return reinterpret_cast<uintptr_t>(it.code) / 16 * 31 + static_cast<size_t>(it.offset);
  }
};

struct Sites {
  std::mutex mutex;  // also for threads without the GIL; no Python runs under it
  std::unordered_map<Instruction, uint32_t, InstructionHash> ids;
  std::vector<SourceLine> list;
  std::string transparent_folder;
};

Sites& sites() noexcept {
  static Sites* const it = new Sites;
  return *it;
}

int offset_of(PyFrameObject* frame) noexcept {
#if PY_VERSION_HEX < 0x030B0000
  return frame->f_lasti;
#else
  return PyFrame_GetLasti(frame);
#endif
}

std::string utf8(PyObject* text) {
  const char* bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  if (!bytes) PyErr_Clear();
  return bytes ? bytes : "?";
}

bool ends_with(const std::string& text, const char* end) noexcept {
  const std::string tail = end;
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

uint32_t add_site(PyFrameObject* frame, const Instruction& instruction) {
  const py_error_scope scope;
  SourceLine site;
  site.file = utf8(instruction.code->co_filename);
  site.function = utf8(instruction.code->co_name);
  site.line = PyFrame_GetLineNumber(frame);
  Sites& all = sites();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.ids.size() >= most_sites) return 0;
  const std::string& folder = all.transparent_folder;
  const bool ours = !folder.empty() && site.file.compare(0, folder.size(), folder) == 0;
  uint32_t id = transparent;
  if (!ours && !ends_with(site.file, "contextlib.py")) {
    all.list.push_back(std::move(site));
    id = static_cast<uint32_t>(all.list.size());
  }
  if (all.ids.emplace(instruction, id).second) Py_INCREF(instruction.code);
  return id;
}

uint32_t site_of_frame(PyFrameObject* frame) {
  const py_ref code = py_ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const Instruction instruction = {reinterpret_cast<PyCodeObject*>(code.get()), offset_of(frame)};
  {
    std::lock_guard<std::mutex> lock(sites().mutex);
    const auto found = sites().ids.find(instruction);
    if (found != sites().ids.end()) return found->second;
  }
  return add_site(frame, instruction);
}

}  // namespace

void look_through(const std::string& folder) {
  std::lock_guard<std::mutex> lock(sites().mutex);
  sites().transparent_folder = folder;
}

uint32_t calling_site() noexcept {
  py_ref frame =
      py_ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  constexpr int deepest = 32;
  for (int depth = 0; frame && depth < deepest; ++depth) {
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    const uint32_t id = site_of_frame(current);
    if (id != transparent) return id;
    frame = py_ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }
  return 0;
}

SourceLine line_of_site(uint32_t id) {
  std::lock_guard<std::mutex> lock(sites().mutex);
  return id && id <= sites().list.size() ? sites().list[id - 1] : SourceLine{};
}

std::string site_text(uint32_t id) {
  const SourceLine site = line_of_site(id);
  return site.file + ":" + std::to_string(site.line) + " in " + site.function;
}

}  // namespace nvspan::bindings
