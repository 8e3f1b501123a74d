// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/code.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "annotate/event/switchboard.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/support/module_state.hpp"
#include "nvtx/stretch.hpp"

namespace nvspan::bindings {

ProfileState profile_state;
Py_ssize_t detail::profile_code_index = -1;
object_mutex detail::profile_codes_mutex;

namespace {

std::string_view utf8_view(PyObject* text) noexcept {
  Py_ssize_t size = 0;
  const char* utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (!utf8) {
    PyErr_Clear();  // lone surrogates
    return {};
  }
  return {utf8, static_cast<size_t>(size)};
}

std::string_view base_name(std::string_view path) noexcept {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

PyObject* qualified_name(const PyCodeObject* code) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  return code->co_qualname;
#else
  return code->co_name;
#endif
}

// The dotted name of the code in the running frame: module.qualname.
std::string dotted_name(const PyCodeObject* code) {
  PyObject* globals = PyEval_GetGlobals();
  PyObject* module = globals ? PyDict_GetItemString(globals, "__name__") : nullptr;
  std::string name(utf8_view(module));
  name += '.';
  name += utf8_view(qualified_name(code));
  return name;
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view path,
                 std::string_view dotted, std::string_view qualified) noexcept {
  for (const std::string& pattern : patterns) {
    if (annotate::matches_pattern(pattern, path) ||
        annotate::matches_pattern(pattern, base_name(path)) ||
        annotate::matches_pattern(pattern, qualified)) {
      return true;
    }
    for (size_t end = 0; end != std::string_view::npos;) {
      end = dotted.find('.', end + 1);
      if (annotate::matches_pattern(pattern, dotted.substr(0, end))) return true;
    }
  }
  return false;
}

// Whether `code` is the body that a decorated function was given, which calls the original.
bool is_generated(const PyCodeObject* code) noexcept {
  constexpr std::string_view prefix = "__nvspan_";
  PyObject* names = code->co_names;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    if (utf8_view(PyTuple_GET_ITEM(names, i)).substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

bool begins_with(std::string_view text, std::string_view start) noexcept {
  return text.substr(0, start.size()) == start;
}

// Whether the file is one of the hooks that installers put in the way of each import: the finders
// of editable installs (of setuptools, scikit-build-core, meson-python) and setuptools' distutils.
bool is_import_hook(std::string_view path) noexcept {
  const std::string_view file = base_name(path);
  if (file.size() == path.size()) return false;
  const std::string_view folder = base_name(path.substr(0, path.size() - file.size() - 1));
  if (folder == "_distutils_hack") return true;
  return (folder == "site-packages" || folder == "dist-packages") &&
         file.find("_editable_") != std::string_view::npos;
}

bool is_of_library(std::string_view path) noexcept {
  if (begins_with(path, "<frozen ") || is_import_hook(path)) return true;
  for (const std::string& folder : profile_state.settings.library) {
    if (!begins_with(path, folder)) continue;
    const std::string_view rest = path.substr(folder.size());
    return !begins_with(rest, "site-packages") && !begins_with(rest, "dist-packages");
  }
  return false;
}

// Whether the running frame, whose code `code` is, executes a module that lies in no package: its
// range says what the import of that module costs.
bool is_top_module(const PyCodeObject* code) noexcept {
  if (utf8_view(code->co_name) != "<module>") return false;
  PyObject* globals = PyEval_GetGlobals();
  const std::string_view name =
      utf8_view(globals ? PyDict_GetItemString(globals, "__name__") : nullptr);
  return !name.empty() && name.find('.') == std::string_view::npos;
}

bool is_wanted(const PyCodeObject* code) {
  const ProfileSettings& settings = profile_state.settings;
  const std::string_view path = utf8_view(code->co_filename);
  if (begins_with(path, settings.own_folder)) return false;
  if (is_generated(code)) return false;
  if (settings.include_all && !settings.library.empty() && is_of_library(path) &&
      !is_top_module(code)) {
    return false;
  }
  if (settings.include_all && settings.exclude.empty()) return true;
  const std::string dotted = dotted_name(code);
  const std::string_view qualified = utf8_view(qualified_name(code));
  if (matches_any(settings.exclude, path, dotted, qualified)) return false;
  return settings.include_all || matches_any(settings.include, path, dotted, qualified);
}

bool fill(EventFields& fields, PyObject* message) noexcept {
  set_domain(fields, profile_domain());
  if (message && set_message(fields, message, false) == 0) return true;
  PyErr_Clear();
  return false;
}

Py_ssize_t last_slash(PyObject* path, Py_ssize_t end) noexcept {
  Py_ssize_t slash = PyUnicode_FindChar(path, '/', 0, end, -1);
#if defined(_WIN32)
  const Py_ssize_t other = PyUnicode_FindChar(path, '\\', 0, end, -1);
  if (other > slash) slash = other;
#endif
  return slash;
}

// The last part of a path; of a package's __init__.py and __main__.py with their folder, as many
// files are called so.
py_ref shown_file(PyObject* path) noexcept {
  Py_ssize_t start = last_slash(path, PyUnicode_GET_LENGTH(path));
  const std::string_view file = base_name(utf8_view(path));
  if (start > 0 && (file == "__init__.py" || file == "__main__.py")) {
    start = last_slash(path, start);
  }
  return py_ref::steal(PyUnicode_Substring(path, start < 0 ? 0 : start + 1, PY_SSIZE_T_MAX));
}

bool name_event(ProfileCode& known, const PyCodeObject* code, bool linenos) {
  bool& have = linenos ? known.have_line : known.have_named;
  EventFields& fields = linenos ? known.with_line : known.named;
  if (!have) {
    py_ref text = py_ref::borrow(code->co_name);
    if (linenos) {
      py_ref file = shown_file(code->co_filename);
      text = py_ref::steal(
          file ? PyUnicode_FromFormat("%U:%d(%U)", file.get(), code->co_firstlineno, code->co_name)
               : nullptr);
    }
    have = fill(fields, text.get());
  }
  known.event.store(have ? &fields.event : nullptr, std::memory_order_release);
  return have;
}

int resume_opcode = -1;  // RESUME, with which a function's body begins: not before CPython 3.11

int first_offset(PyCodeObject* code) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  py_ref bytes = py_ref::steal(PyCode_GetCode(code));
  if (!bytes) PyErr_Clear();
  const Py_ssize_t size = bytes ? PyBytes_GET_SIZE(bytes.get()) : 0;
  for (Py_ssize_t at = 0; at < size; at += 2) {
    const char* const instruction = PyBytes_AS_STRING(bytes.get()) + at;
    if (static_cast<unsigned char>(*instruction) == resume_opcode) return static_cast<int>(at);
  }
#else
  (void)code;
#endif
  return -1;
}

// Its number; -1 where there is none.
int find_resume_opcode() noexcept {
  py_ref module = py_ref::steal(PyImport_ImportModule("opcode"));
  py_ref numbers = py_ref::steal(module ? PyObject_GetAttrString(module.get(), "opmap") : nullptr);
  py_ref number =
      py_ref::steal(numbers ? PyMapping_GetItemString(numbers.get(), "RESUME") : nullptr);
  const long found = number ? PyLong_AsLong(number.get()) : -1;
  PyErr_Clear();
  return static_cast<int>(found);
}

// Null: its calls run in one go.
const char* resumable_kind(const PyCodeObject* code) noexcept {
  const int flags = code->co_flags;
  return flags & CO_COROUTINE         ? "coroutine"
         : flags & CO_ASYNC_GENERATOR ? "async generator"
         : flags & CO_GENERATOR       ? "generator"
                                      : nullptr;
}

// 0: there is none.
uint32_t stretch_category(const char* kind, const char* suffix) noexcept {
  const py_ref name = py_ref::steal(PyUnicode_FromFormat("%s%s", kind, suffix));
  uint32_t id = 0;
  auto* domain = reinterpret_cast<DomainObject*>(profile_domain());
  if (name && category_id_from_object(domain, name.get(), id) == 0) return id;
  PyErr_Clear();
  return 0;
}

void name_stretches(ProfileCode& known, PyCodeObject* code) noexcept {
  const char* kind = resumable_kind(code);
  if (!kind || known.call_category != 0) return;
  const uint32_t begun = stretch_category(kind, "");
  known.resumed_category = stretch_category(kind, nvtx::resumed_suffix);
  known.first_offset = first_offset(code);
  if (known.resumed_category != 0) known.call_category = begun;
}

void forget_code(void* extra) noexcept {
  auto* known = static_cast<ProfileCode*>(extra);
  if (!known) return;
  clear_fields(known->named);
  clear_fields(known->with_line);
  delete known;
}

// The events of C functions by name. Immortal.
struct CFunctionEvent {
  EventFields fields;
  std::string name;
};

using CFunctionEvents = std::unordered_map<std::string_view, std::unique_ptr<CFunctionEvent>>;

CFunctionEvents& c_function_events() {
  static auto* const events = new CFunctionEvents;
  return *events;
}

CFunctionEvent* make_c_function_event(const char* name) noexcept {
  try {
    CFunctionEvents& events = c_function_events();
    const auto found = events.find(name);
    if (found != events.end()) return found->second.get();
    auto event = std::make_unique<CFunctionEvent>();
    event->name = name;
    py_ref text = py_ref::steal(
        PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(strlen(name)), "backslashreplace"));
    if (!fill(event->fields, text.get())) return nullptr;
    CFunctionEvent* result = event.get();
    events.emplace(std::string_view(result->name), std::move(event));
    return result;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void profile_set_settings(ProfileSettings settings) noexcept {
  const py_section section(profile_domain());
  profile_state.settings = std::move(settings);
}

ProfileCode* detail::judge_profile_code(PyObject* code, uint64_t session) noexcept {
  const py_section section(profile_domain());
  py_error_scope scope;
  ProfileCode* known = profile_code_known(code);
  if (known && known->judged(session)) return known;
  if (!known) {
    known = new (std::nothrow) ProfileCode;
    if (!known) return nullptr;
    std::unique_lock<object_mutex> codes(profile_codes_mutex);
    const int result = set_code_extra(code, profile_code_index, known);
    codes.unlock();
    if (result < 0) {
      PyErr_Clear();
      delete known;
      return nullptr;
    }
  }
  auto* object = reinterpret_cast<PyCodeObject*>(code);
  bool wanted = false;
  try {
    wanted = is_wanted(object) && name_event(*known, object, profile_state.settings.linenos);
    if (wanted) name_stretches(*known, object);
  } catch (const std::bad_alloc&) {
    wanted = false;
  }
  known->verdict.store(session << 1 | static_cast<uint64_t>(wanted), std::memory_order_release);
  return known;
}

void profile_send_unfinished(PyObject* code, const ProfileCode& known, uint64_t call) noexcept {
  const char* kind = resumable_kind(reinterpret_cast<PyCodeObject*>(code));
  annotate::ReadyEvent* event = known.event.load(std::memory_order_acquire);
  const annotate::ToolTable* tool = annotate::listening_tool();
  const uint32_t category = kind ? stretch_category(kind, nvtx::unfinished_suffix) : 0;
  annotate::Outgoing out;
  if (category == 0 || !event || !tool || !annotate::prepare(*event, *tool, out)) return;
  profile_describe_stretch(out, {category, call});
  annotate::send_push(out, *tool);
  annotate::send_pop(*event->domain, *tool);
}

annotate::ReadyEvent* profile_c_function_event(PyObject* callable) noexcept {
  const PyMethodDef* method = nullptr;
  if (PyCFunction_Check(callable))
    method = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  else if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
    method = reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  if (!method) return nullptr;
  // A definition's memory may be used again for another, so its name is compared, too.
  struct Recent {
    const PyMethodDef* method;
    CFunctionEvent* event;
  };
  constexpr size_t recent_count = 1024;
  static Recent recent[recent_count];
  const py_section section(profile_domain());
  Recent& slot = recent[reinterpret_cast<uintptr_t>(method) / sizeof(PyMethodDef) % recent_count];
  if (slot.method == method && slot.event->name == method->ml_name) {
    return &slot.event->fields.event;
  }
  py_error_scope scope;
  CFunctionEvent* event = make_c_function_event(method->ml_name);
  if (!event) return nullptr;
  slot = {method, event};
  return &event->fields.event;
}

PyObject* profile_domain() noexcept { return state().profile.domain; }

int profile_codes_prepare() {
  if (detail::profile_code_index >= 0) return 0;
  py_ref name = py_ref::steal(PyUnicode_FromString(nvtx::profile_domain_name));
  if (!name) return -1;
  state().profile.domain = domain_from_object(name.get());
  if (!state().profile.domain) return -1;
  resume_opcode = find_resume_opcode();
  detail::profile_code_index = request_code_extra_index(forget_code);
  if (detail::profile_code_index >= 0) return 0;
  PyErr_SetString(PyExc_RuntimeError,
                  "the profile needs a free co_extra slot of code objects, and all are in use");
  return -1;
}

}  // namespace nvspan::bindings
