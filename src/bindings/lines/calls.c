// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What calls look like in the bytecode and memory of CPython 3.10 to 3.13.

#define Py_BUILD_CORE 1
#define NEED_OPCODE_TABLES
#define NEED_OPCODE_METADATA
#include <Python.h>

#include <frameobject.h>
#include <opcode.h>

#include <stddef.h>

#include "bindings/lines/layout_of_python.h"

#if PY_VERSION_HEX < 0x030e0000 && !defined(Py_GIL_DISABLED)

#if PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_opcode_metadata.h>
#elif PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_opcode.h>
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

static nvspan_calls calls;

static int stack_effect(int opcode, int argument, int jumps) {
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
  // The compiler counts the arguments as gone before they are.
  if (opcode == PRECALL) return 0;
  if (opcode == CALL) return -1 - argument;
#endif
#ifdef CACHE
  if (opcode == CACHE) return 0;
#endif
  if (opcode == EXTENDED_ARG) return 0;
  return PyCompile_OpcodeStackEffectWithJump(opcode, argument, jumps);
}

static void set_opcodes(void) {
  for (int i = 0; i < 256; ++i) {
#if PY_VERSION_HEX >= 0x030b0000
    calls.base[i] = _PyOpcode_Deopt[i];
    calls.caches[i] = _PyOpcode_Caches[_PyOpcode_Deopt[i]];
#else
    calls.base[i] = (uint8_t)i;
#endif
#ifdef MIN_INSTRUMENTED_OPCODE
    if (i >= MIN_INSTRUMENTED_OPCODE) calls.base[i] = nvspan_no_opcode;
#endif
#ifdef ENTER_EXECUTOR
    if (i == ENTER_EXECUTOR) calls.base[i] = nvspan_no_opcode;
#endif
  }
}

static void set_ends(void) {
  calls.jumps[RETURN_VALUE] = nvspan_jumps_ends;
  calls.jumps[RERAISE] = nvspan_jumps_ends;
  calls.jumps[RAISE_VARARGS] = nvspan_jumps_ends;
  calls.jumps[JUMP_FORWARD] = nvspan_jumps_ends | nvspan_jumps_forward;
#ifdef RETURN_CONST
  calls.jumps[RETURN_CONST] = nvspan_jumps_ends;
#endif
#ifdef INTERPRETER_EXIT
  calls.jumps[INTERPRETER_EXIT] = nvspan_jumps_ends;
#endif
#if PY_VERSION_HEX >= 0x030b0000
  calls.jumps[JUMP_BACKWARD] = nvspan_jumps_ends | nvspan_jumps_backward;
  calls.jumps[JUMP_BACKWARD_NO_INTERRUPT] = nvspan_jumps_ends | nvspan_jumps_backward;
  calls.jumps[SEND] = nvspan_jumps_forward;
#else
  calls.jumps[JUMP_ABSOLUTE] = nvspan_jumps_ends | nvspan_jumps_to;
#endif
}

static void set_jumps(void) {
  calls.jumps[FOR_ITER] = nvspan_jumps_forward;
#if PY_VERSION_HEX >= 0x030c0000
  const uint8_t forward[] = {POP_JUMP_IF_FALSE, POP_JUMP_IF_TRUE, POP_JUMP_IF_NONE,
                             POP_JUMP_IF_NOT_NONE};
#elif PY_VERSION_HEX >= 0x030b0000
  const uint8_t forward[] = {POP_JUMP_FORWARD_IF_FALSE, POP_JUMP_FORWARD_IF_TRUE,
                             POP_JUMP_FORWARD_IF_NONE,  POP_JUMP_FORWARD_IF_NOT_NONE,
                             JUMP_IF_FALSE_OR_POP,      JUMP_IF_TRUE_OR_POP};
  const uint8_t backward[] = {POP_JUMP_BACKWARD_IF_FALSE, POP_JUMP_BACKWARD_IF_TRUE,
                              POP_JUMP_BACKWARD_IF_NONE, POP_JUMP_BACKWARD_IF_NOT_NONE};
  for (size_t i = 0; i < sizeof backward; ++i) calls.jumps[backward[i]] = nvspan_jumps_backward;
#else
  const uint8_t forward[] = {0};
  const uint8_t to[] = {POP_JUMP_IF_FALSE, POP_JUMP_IF_TRUE, JUMP_IF_FALSE_OR_POP,
                        JUMP_IF_TRUE_OR_POP, JUMP_IF_NOT_EXC_MATCH};
  for (size_t i = 0; i < sizeof to; ++i) calls.jumps[to[i]] = nvspan_jumps_to;
#endif
  for (size_t i = 0; i < sizeof forward; ++i) {
    if (forward[i] != 0) calls.jumps[forward[i]] = nvspan_jumps_forward;
  }
}

static void set_call(int opcode, uint8_t callable, int has_arguments, int may_be_null) {
  calls.callable[opcode] = callable;
  calls.has_arguments[opcode] = (uint8_t)has_arguments;
  calls.may_be_null[opcode] = (uint8_t)may_be_null;
}

static void set_calls(void) {
#if PY_VERSION_HEX >= 0x030d0000
  set_call(CALL, 2, 1, 0);
  set_call(CALL_KW, 3, 1, 0);
  set_call(CALL_FUNCTION_EX, 3, 0, 0);
#elif PY_VERSION_HEX >= 0x030b0000
  set_call(CALL, 2, 1, 1);
#ifdef PRECALL
  set_call(PRECALL, 2, 1, 1);
#endif
  set_call(CALL_FUNCTION_EX, 2, 0, 0);
#else
  set_call(CALL_FUNCTION, 1, 1, 0);
  set_call(CALL_FUNCTION_KW, 2, 1, 0);
  set_call(CALL_METHOD, 2, 1, 1);
  set_call(CALL_FUNCTION_EX, 2, 0, 0);
#endif
  calls.has_flag[CALL_FUNCTION_EX] = 1;
}

static void set_objects(void) {
  calls.function_definition = offsetof(PyCFunctionObject, m_ml);
  calls.function_self = offsetof(PyCFunctionObject, m_self);
  calls.function_module = offsetof(PyCFunctionObject, m_module);
  calls.descriptor_type = offsetof(PyMethodDescrObject, d_common.d_type);
  calls.descriptor_definition = offsetof(PyMethodDescrObject, d_method);
  calls.callable_size = offsetof(PyMethodDescrObject, d_method) + sizeof(void*);
  calls.definition_name = offsetof(PyMethodDef, ml_name);
  calls.type_name = offsetof(PyTypeObject, tp_name);
  calls.type_flags = offsetof(PyTypeObject, tp_flags);
  calls.type_call = offsetof(PyTypeObject, tp_call);
  calls.type_size = offsetof(PyTypeObject, tp_flags) + sizeof(unsigned long);
  calls.flag_heap = Py_TPFLAGS_HEAPTYPE;
  calls.flag_type_subclass = Py_TPFLAGS_TYPE_SUBCLASS;
  calls.function_types[0] = (uintptr_t)&PyCFunction_Type;
  calls.function_types[1] = (uintptr_t)&PyCMethod_Type;
  calls.descriptor_types[0] = (uintptr_t)&PyMethodDescr_Type;
  calls.descriptor_types[1] = (uintptr_t)&PyClassMethodDescr_Type;
#if PY_VERSION_HEX >= 0x030b0000
  calls.frame_stack = offsetof(_PyInterpreterFrame, localsplus);
  calls.code_locals = offsetof(PyCodeObject, co_nlocalsplus);
#else
  calls.frame_stack = offsetof(PyFrameObject, f_valuestack);
  calls.code_locals = -1;
#endif
}

const nvspan_calls* nvspan_calls_of_python(void) {
  if (calls.call_of_python != 0) return &calls;
  PyObject* called =
      PyObject_CallFunction((PyObject*)&PyType_Type, "s(){si}", "called", "__call__", 0);
  if (called == NULL) {
    PyErr_Clear();
    return NULL;
  }
  set_opcodes();
  set_jumps();
  set_ends();
  set_calls();
  set_objects();
  calls.stack_effect = stack_effect;
  calls.extended_argument = EXTENDED_ARG;
  calls.generator_depth = 1;
#ifdef RETURN_GENERATOR
  calls.generator_depth -= stack_effect(RETURN_GENERATOR, 0, 0);
#endif
  calls.call_of_python = (uintptr_t)((PyTypeObject*)called)->tp_call;
  Py_DECREF(called);
  return &calls;
}

#else

const nvspan_calls* nvspan_calls_of_python(void) { return NULL; }

#endif
