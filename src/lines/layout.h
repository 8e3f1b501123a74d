// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Where one build of CPython keeps what the sampler reads: offsets in bytes, as that build's own
// headers have them. C, because only C can read those headers. -1: it does not have the field.

#pragma once

#include <stdint.h>

// Calls in progress: where the stack of a frame has what an instruction calls, and what C functions
// look like. For CPython 3.10 to 3.13.
typedef struct {
  // The change of the stack's depth; pure, so any thread may call it.
  int (*stack_effect)(int opcode, int argument, int jumps);
  int32_t extended_argument;  // an opcode
  int32_t generator_depth;    // of the stack where a generator's code begins
  // By opcode as it is in memory: the one that it stands for, or `nvspan_no_opcode`.
  uint8_t base[256];
  uint8_t caches[256];  // units after the instruction
  uint8_t jumps[256];
  // Of a call: how far below the top the callable is, less the number of arguments where the stack
  // has these. 0: no call.
  uint8_t callable[256];
  uint8_t has_arguments[256];
  uint8_t has_flag[256];     // CALL_FUNCTION_EX: one more, if the argument is odd
  uint8_t may_be_null[256];  // then the callable is in the next place
  int32_t frame_stack;       // where the places of locals and the stack begin; of 3.10 a pointer
  int32_t code_locals;       // how many are locals; -1: the pointer is to the stack itself
  int32_t function_definition, function_self, function_module;  // PyCFunctionObject
  int32_t descriptor_type, descriptor_definition;               // PyMethodDescrObject
  int32_t definition_name;                                      // PyMethodDef
  int32_t type_name, type_flags, type_call;                     // PyTypeObject
  int32_t callable_size, type_size;                             // bytes to copy
  uint64_t flag_heap, flag_type_subclass;
  uintptr_t function_types[2], descriptor_types[2];
  uintptr_t call_of_python;  // tp_call of a class that has __call__ in Python
} nvspan_calls;

enum {  // values of jumps
  nvspan_jumps_not,
  nvspan_jumps_forward,
  nvspan_jumps_backward,
  nvspan_jumps_to,        // an index, of 3.10
  nvspan_jumps_ends = 4,  // with one of these: what follows is not reached from here
};
enum { nvspan_no_opcode = 255 };

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
  const nvspan_calls* calls;  // null: not known
  uint32_t version;           // PY_VERSION_HEX of the headers
} nvspan_layout;
