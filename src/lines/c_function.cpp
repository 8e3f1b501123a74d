// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/c_function.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace nvspan::lines {
namespace {

constexpr std::size_t longest_name = 120;
constexpr std::size_t most_names = 1 << 14;

bool is_one(const std::uintptr_t (&types)[2], Address type) noexcept {
  return type == types[0] || type == types[1];
}

}  // namespace

bool CFunctions::is_at(const PythonFrame& frame, const char* bytes) const noexcept {
  if ((value_at<Address>(bytes, layout_.frame_code) & ~layout_.code_tags) != frame.code) {
    return false;
  }
  if (layout_.instruction_index != 0) {
    return value_at<std::int32_t>(bytes, layout_.frame_instruction) == frame.unit;
  }
  return value_at<Address>(bytes, layout_.frame_instruction) ==
         moved(moved(frame.code, layout_.code_instructions), 2 * frame.unit);
}

// One copy has, in this order: the callable that was seen last and its name, what the stack has
// now, the frame.
CFunctions::Seen CFunctions::look(const PythonFrame& frame, Address place, CallSite& site) {
  const bool known = site.callable != 0;
  const bool named = known && site.text != 0;
  const auto object_bytes = known ? static_cast<std::size_t>(layout_.calls->callable_size) : 0;
  const std::size_t text_bytes = named ? site.size + 1 : 0;
  const iovec all[] = {range_of(place, 2 * pointer),
                       range_of(frame.at, static_cast<std::size_t>(layout_.frame_size)),
                       range_of(site.callable, object_bytes), range_of(site.text_at, pointer),
                       range_of(site.text, text_bytes)};
  iovec ranges[5];
  std::size_t count = 0;
  if (known) ranges[count++] = all[2];
  if (named) ranges[count++] = all[3];
  if (named) ranges[count++] = all[4];
  ranges[count++] = all[0];
  ranges[count++] = all[1];
  const std::size_t before = object_bytes + (named ? pointer + text_bytes : 0);
  const std::size_t wanted = before + all[0].iov_len + all[1].iov_len;
  const Address expected = site.callable;
  if (copier_.copy(ranges, count) != wanted) {
    site.callable = 0;
    return Seen::gone;
  }
  const char* const bytes = copier_.bytes();
  if (!is_at(frame, bytes + before + all[0].iov_len)) return Seen::gone;
  const char* const places = bytes + before;
  auto callable = value_at<Address>(places, 0);
  if (callable == 0 && site.may_be_null) callable = value_at<Address>(places, pointer);
  if (!is_plausible(callable)) return Seen::gone;
  if (callable != expected) {
    site.callable = callable;
    site.text = 0;
    return Seen::other;
  }
  object_.assign(bytes, bytes + object_bytes);
  if (!has_references(layout_, bytes)) return Seen::gone;
  if (!named) return Seen::same;
  const std::string& name = names_[site.number - 1];
  const char* const text = bytes + object_bytes + pointer;
  const bool is_same =
      value_at<Address>(bytes + object_bytes, 0) == site.text && text[site.size] == '\0' &&
      name.compare(name.size() - site.size, site.size, text, site.size) == 0 &&
      (site.self == 0 || value_at<Address>(bytes, layout_.calls->function_self) == site.self);
  if (!is_same) site.text = 0;
  return Seen::same;
}

std::uint32_t CFunctions::find(const PythonFrame& frame, std::int32_t locals, CallSite& site) {
  Address place = moved(frame.at, layout_.calls->frame_stack);
  if (layout_.calls->code_locals < 0) {
    if (!copier_.read(place, &place, pointer) || !is_plausible(place)) return 0;
  } else {
    place += pointer * static_cast<Address>(locals);
  }
  place += pointer * static_cast<Address>(site.place);
  constexpr int most_looks = 3;  // at what is called, at its name, and whether it is still called
  for (int i = 0; i < most_looks; ++i) {
    const Seen seen = look(frame, place, site);
    if (seen == Seen::gone) return 0;
    if (seen == Seen::other) continue;
    if (site.text != 0) return site.number;
    identify(site);
    if (site.text == 0) return 0;
  }
  return 0;
}

// The name of what object_ is a copy of; without one, `text` stays 0.
void CFunctions::identify(CallSite& site) {
  const nvspan_calls& calls = *layout_.calls;
  const auto type = value_at<Address>(object_.data(), layout_.object_type);
  const bool is_function = is_one(calls.function_types, type);
  const bool is_descriptor = is_one(calls.descriptor_types, type);
  std::string prefix;
  site.self = 0;
  if (is_function || is_descriptor) {
    site.text_at =
        moved(value_at<Address>(object_.data(), is_function ? calls.function_definition
                                                            : calls.descriptor_definition),
              calls.definition_name);
    if (is_function) {
      site.self = value_at<Address>(object_.data(), calls.function_self);
      prefix = prefix_of_function(site);
    } else {
      prefix = type_name(value_at<Address>(object_.data(), calls.descriptor_type));
    }
  } else if (!find_text_of_object(site, type)) {
    return;
  }
  Address text = 0;
  if (!copier_.read(site.text_at, &text, pointer)) return;
  const std::string name = text_at(text);
  if (name.empty()) return;
  if (prefix == "builtins") prefix.clear();
  site.number = number_of(prefix.empty() ? name : prefix + '.' + name);
  site.size = name.size();
  if (site.number != 0) site.text = text;
}

// The module; of a method that is bound, the type.
std::string CFunctions::prefix_of_function(const CallSite& site) {
  const nvspan_calls& calls = *layout_.calls;
  std::string text;
  RawText raw;
  const auto module = value_at<Address>(object_.data(), calls.function_module);
  if (is_plausible(module) && read_text(copier_, layout_, module, text, raw)) return text;
  if (!is_plausible(site.self)) return {};
  Address type = 0;
  std::uint64_t flags = 0;
  if (!copier_.read(moved(site.self, layout_.object_type), &type, pointer) ||
      !copier_.read(moved(type, calls.type_flags), &flags, sizeof flags)) {
    return {};
  }
  return type_name((flags & calls.flag_type_subclass) != 0 ? site.self : type);
}

// A type that is called, or an object whose type says how. Of those made in C alone: their names
// have a module, or they are no heap types.
bool CFunctions::find_text_of_object(CallSite& site, Address type) {
  const nvspan_calls& calls = *layout_.calls;
  std::vector<char> bytes(static_cast<std::size_t>(calls.type_size));
  if (!is_plausible(type) || !copier_.read(type, bytes.data(), bytes.size())) return false;
  const bool is_type =
      (value_at<std::uint64_t>(bytes.data(), calls.type_flags) & calls.flag_type_subclass) != 0;
  const Address named = is_type ? site.callable : type;
  if (is_type && !copier_.read(named, bytes.data(), bytes.size())) return false;
  const bool is_heap =
      (value_at<std::uint64_t>(bytes.data(), calls.type_flags) & calls.flag_heap) != 0;
  const auto call = value_at<Address>(bytes.data(), calls.type_call);
  const bool has_module =
      text_at(value_at<Address>(bytes.data(), calls.type_name)).find('.') != std::string::npos;
  site.text_at = moved(named, calls.type_name);
  if (is_type) return has_module || !is_heap;
  return has_module && call != 0 && call != calls.call_of_python;
}

std::string CFunctions::type_name(Address type) {
  Address text = 0;
  if (!is_plausible(type) || !copier_.read(moved(type, layout_.calls->type_name), &text, pointer)) {
    return {};
  }
  return text_at(text);
}

// A name in C; empty: it is none.
std::string CFunctions::text_at(Address address) {
  constexpr Address page = 4096;
  std::string text(longest_name + 1, '\0');
  const std::size_t here = std::min<std::size_t>(text.size(), page - address % page);
  if (!copier_.read(address, text.data(), here)) return {};
  if (here < text.size() && text.find('\0') >= here &&
      !copier_.read(address + here, text.data() + here, text.size() - here)) {
    return {};
  }
  const std::size_t end = text.find('\0');
  if (end == std::string::npos || end > longest_name) return {};
  text.resize(end);
  const bool is_name = std::all_of(text.begin(), text.end(), [](unsigned char one) {
    return std::isalnum(one) != 0 || one == '_' || one == '.';
  });
  return is_name ? text : std::string();
}

std::uint32_t CFunctions::number_of(const std::string& name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  if (names_.size() >= most_names) return 0;
  names_.push_back(name);
  const auto number = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(name, number);
  return number;
}

}  // namespace nvspan::lines
