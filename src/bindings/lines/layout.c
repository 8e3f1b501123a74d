// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Compiled as C with CPython's internal headers, which nothing else sees.

#define Py_BUILD_CORE 1
#include <Python.h>

#include <frameobject.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe_structs.h>
#elif PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

#include <stddef.h>
#include <string.h>

#include "bindings/lines/layout_of_python.h"

#define THREAD(field) (int32_t)offsetof(PyThreadState, field)
#define CODE(field) (int32_t)offsetof(PyCodeObject, field)
#define INTERPRETER(field) (int32_t)offsetof(PyInterpreterState, field)

#ifndef Py_GIL_DISABLED

static void set_frames(nvspan_layout* layout) {
#if PY_VERSION_HEX >= 0x030b0000
#define FRAME(field) (int32_t)offsetof(_PyInterpreterFrame, field)
  layout->frame_previous = FRAME(previous);
  layout->frame_owner = FRAME(owner);
  layout->frame_size = FRAME(owner) + 1;
#if PY_VERSION_HEX >= 0x030d0000
  layout->frame_code = FRAME(f_executable);
  layout->frame_instruction = FRAME(instr_ptr);
#else
  layout->frame_code = FRAME(f_code);
  layout->frame_instruction = FRAME(prev_instr);
#endif
  layout->first_shim_owner = 3;  // FRAME_OWNED_BY_CSTACK; in 3.14 FRAME_OWNED_BY_INTERPRETER
  layout->instruction_index = 0;
#else
  layout->frame_code = offsetof(PyFrameObject, f_code);
  layout->frame_previous = offsetof(PyFrameObject, f_back);
  layout->frame_instruction = offsetof(PyFrameObject, f_lasti);
  layout->frame_size = offsetof(PyFrameObject, f_lasti) + 16;
  layout->instruction_index = 1;
#endif
#if PY_VERSION_HEX >= 0x030e0000
  layout->code_tags = 7;
#else
  layout->code_tags = 0;
#endif
}

static void set_threads(nvspan_layout* layout) {
  layout->first_interpreter = (uintptr_t)&_PyRuntime.interpreters.head;
  layout->interpreter_next = INTERPRETER(next);
#if PY_VERSION_HEX >= 0x030b0000
  layout->interpreter_threads = INTERPRETER(threads.head);
  layout->thread_native_id = THREAD(native_thread_id);
  layout->thread_chunk = THREAD(datastack_chunk);
  layout->thread_top = THREAD(datastack_top);
#else
  layout->interpreter_threads = INTERPRETER(tstate_head);
#endif
#if PY_VERSION_HEX >= 0x030d0000
  layout->thread_frame = THREAD(current_frame);
#elif PY_VERSION_HEX >= 0x030b0000
  layout->thread_cframe = THREAD(cframe);
  layout->cframe_frame = offsetof(_PyCFrame, current_frame);
#else
  layout->thread_frame = THREAD(frame);
#endif
  layout->thread_prev = THREAD(prev);
  layout->thread_next = THREAD(next);
  layout->thread_interpreter = THREAD(interp);
  layout->thread_id = THREAD(id);
  layout->thread_ident = THREAD(thread_id);
}

static void set_code(nvspan_layout* layout) {
#if PY_VERSION_HEX >= 0x030b0000
  layout->code_qualified_name = CODE(co_qualname);
  layout->code_instructions = CODE(co_code_adaptive);
  layout->code_size = CODE(co_code_adaptive);
#else
  layout->code_instructions = CODE(co_code);
  layout->code_size = CODE(co_linetable) + 8;
#endif
#if PY_VERSION_HEX >= 0x030c0000
  layout->code_version = CODE(co_version);
#endif
  layout->code_flags = CODE(co_flags);
  layout->code_first_line = CODE(co_firstlineno);
  layout->code_constants = CODE(co_consts);
  layout->code_names = CODE(co_names);
  layout->code_file = CODE(co_filename);
  layout->code_name = CODE(co_name);
  layout->code_lines = CODE(co_linetable);
}

static void set_objects(nvspan_layout* layout) {
  layout->object_type = offsetof(PyObject, ob_type);
  layout->object_size = offsetof(PyVarObject, ob_size);
  layout->string_length = offsetof(PyASCIIObject, length);
  layout->string_state = offsetof(PyASCIIObject, state);
  layout->string_ascii_data = sizeof(PyASCIIObject);
  layout->string_data = sizeof(PyCompactUnicodeObject);
  layout->bytes_data = offsetof(PyBytesObject, ob_sval);
  PyASCIIObject text;
#define MASK(field, ones, mask)  \
  memset(&text, 0, sizeof text); \
  text.state.field = ones;       \
  memcpy(&mask, (char*)&text + layout->string_state, 4)
  MASK(kind, 7, layout->state_kind);
  MASK(compact, 1, layout->state_compact);
  MASK(ascii, 1, layout->state_ascii);
#if PY_VERSION_HEX >= 0x030e0000
  layout->dead_references = 0x0000ffff00000000ull;
#else
  layout->dead_references = 0xffffffff00000000ull;
#endif
  layout->code_type = (uintptr_t)&PyCode_Type;
  layout->string_type = (uintptr_t)&PyUnicode_Type;
  layout->bytes_type = (uintptr_t)&PyBytes_Type;
}

// What the running interpreter says of itself, for debuggers, since 3.13.
static int is_as_compiled(const nvspan_layout* layout) {
#if PY_VERSION_HEX >= 0x030d0000
  const _Py_DebugOffsets* own = &_PyRuntime.debug_offsets;
#define SAME(part, field, offset) (own->part.field == (uint64_t)(offset))
  return SAME(interpreter_state, next, layout->interpreter_next) &&
         SAME(interpreter_state, threads_head, layout->interpreter_threads) &&
         SAME(thread_state, prev, layout->thread_prev) &&
         SAME(thread_state, next, layout->thread_next) &&
         SAME(thread_state, interp, layout->thread_interpreter) &&
         SAME(thread_state, current_frame, layout->thread_frame) &&
         SAME(thread_state, thread_id, layout->thread_ident) &&
         SAME(thread_state, native_thread_id, layout->thread_native_id) &&
         SAME(interpreter_frame, previous, layout->frame_previous) &&
         SAME(interpreter_frame, executable, layout->frame_code) &&
         SAME(interpreter_frame, instr_ptr, layout->frame_instruction) &&
         SAME(interpreter_frame, owner, layout->frame_owner) &&
         SAME(code_object, filename, layout->code_file) &&
         SAME(code_object, name, layout->code_name) &&
         SAME(code_object, qualname, layout->code_qualified_name) &&
         SAME(code_object, linetable, layout->code_lines) &&
         SAME(code_object, firstlineno, layout->code_first_line) &&
         SAME(code_object, co_code_adaptive, layout->code_instructions);
#else
  (void)layout;
  return 1;
#endif
}

const char* nvspan_layout_of_python(nvspan_layout* layout) {
  memset(layout, 0xff, sizeof *layout);  // -1: there is none
  set_threads(layout);
  set_frames(layout);
  set_code(layout);
  set_objects(layout);
  layout->calls = nvspan_calls_of_python();
  layout->version = PY_VERSION_HEX;
  return is_as_compiled(layout) ? NULL : "its objects differ from those of its headers";
}

#else

const char* nvspan_layout_of_python(nvspan_layout* layout) {
  (void)layout;
  return "it is a free-threaded build, in which sampling has not been tried";
}

#endif
