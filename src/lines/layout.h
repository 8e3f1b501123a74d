// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Where one build of CPython keeps what the sampler reads: offsets in bytes, as that build's own
// headers have them. C, because only C can read those headers. -1: it does not have the field.

#pragma once

#include <stdint.h>

typedef struct {
  uintptr_t first_interpreter;  // address of a pointer
  // PyInterpreterState
  int32_t interpreter_next, interpreter_threads;
  // PyThreadState
  int32_t thread_prev, thread_next, thread_interpreter, thread_id, thread_ident, thread_native_id;
  int32_t thread_frame, thread_cframe, thread_chunk, thread_top;
  int32_t cframe_frame;  // _PyCFrame, of 3.11 and 3.12
  // _PyInterpreterFrame; of 3.10 PyFrameObject
  int32_t frame_code, frame_previous, frame_instruction, frame_owner, frame_size;
  int32_t first_shim_owner;   // owners from this one on are frames of the interpreter itself
  int32_t instruction_index;  // 1: an index, of 3.10; 0: an address
  uint64_t code_tags;         // bits of frame_code that are none of the address
  // PyCodeObject
  int32_t code_flags, code_first_line, code_constants, code_names, code_file, code_name;
  int32_t code_qualified_name, code_lines, code_version, code_instructions, code_size;
  // PyObject, PyVarObject, strings and bytes
  int32_t object_type, object_size, string_length, string_state, string_ascii_data, string_data;
  int32_t bytes_data;
  uint32_t state_kind, state_compact, state_ascii;  // masks in string_state
  uint64_t dead_references;  // bits of a reference count that are 0 while the object lives
  uintptr_t code_type, string_type, bytes_type;
  uint32_t version;  // PY_VERSION_HEX of the headers
} nvspan_layout;
