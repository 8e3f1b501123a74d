// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions and methods as Python calls them.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace nvspan::bindings {

// Methods(module).def("steps", &steps), or of a class: what pybind11's def() does, by one function
// of pybind11 for all. Its own has a kilobyte of code for each, which take a third of the build.
class Methods {
 public:
  // The class or module to add to. A class gets its constructors and properties from pybind11.
  explicit Methods(pybind11::handle owner) : owner_(owner) {}

  // `names`: pybind11::arg of the last parameters, maybe with a default, and pybind11::kw_only.
  // With none all are given by place. A last parameter pybind11::kwargs takes what else has a name.
  template <class Return, class... Given, class... Names>
  Methods& def(const char* name, Return (*function)(Given...), const Names&... names) {
    return add(name, made<Given...>(&call<Return, Given...>, function), names...);
  }
  template <class Return, class Class, class... Given, class... Names>
  Methods& def(const char* name, Return (Class::*method)(Given...), const Names&... names) {
    return add(name, made<Class&, Given...>(&call_of<Return, Class, Given...>, method), names...);
  }
  template <class Return, class Class, class... Given, class... Names>
  Methods& def(const char* name, Return (Class::*method)(Given...) const, const Names&... names) {
    return add(name, made<const Class&, Given...>(&call_of_const<Return, Class, Given...>, method),
               names...);
  }
  template <class Lambda, class... Names, class = std::enable_if_t<std::is_class_v<Lambda>>>
  Methods& def(const char* name, Lambda lambda, const Names&... names) {
    return def(name, +lambda, names...);
  }

 private:
  static constexpr std::size_t most_parameters = 12;

  struct Parameter {
    const char* name;
    pybind11::object otherwise;  // null: it must be given
  };
  struct Method {
    pybind11::object (*call)(const Method&, PyObject* const* given);
    std::array<unsigned char, 2 * sizeof(void*)> target = {};  // a function's or method's pointer
    std::size_t count = 0;
    bool takes_rest = false;
    std::vector<Parameter> named = {};             // the last ones
    std::size_t named_by_place = most_parameters;  // at most; the others by name alone

    template <class Target>
    Target target_as() const noexcept {
      Target result;
      std::memcpy(&result, target.data(), sizeof result);
      return result;
    }
    // Throws what pybind11 turns into a TypeError where they do not fit.
    void arrange(const pybind11::args& args, const pybind11::kwargs& rest, PyObject** given) const;
  };

  // What a parameter is given, in a form of its type, until the call has ended.
  template <class Type>
  class Loaded {
   public:
    PYBIND11_NOINLINE explicit Loaded(PyObject* given) {
      if (!caster_.load(given, true)) throw pybind11::reference_cast_error();
    }
    decltype(auto) value() { return pybind11::detail::cast_op<Type>(std::move(caster_)); }

   private:
    pybind11::detail::make_caster<Type> caster_;
  };

  template <class Value>
  PYBIND11_NOINLINE static pybind11::object to_object(Value&& value) {
    if constexpr (std::is_convertible_v<Value&&, pybind11::object>) {
      return std::forward<Value>(value);
    } else {
      return pybind11::cast(std::forward<Value>(value));
    }
  }

  template <class Return, class Use>
  static pybind11::object result_of(Use&& use) {
    if constexpr (std::is_void_v<Return>) {
      use();
      return pybind11::none();
    } else {
      return to_object(use());
    }
  }

  template <class Return, class... Given>
  static pybind11::object call(const Method& method, PyObject* const* given) {
    return call_in_order<Return, Given...>(method, given, std::index_sequence_for<Given...>());
  }
  template <class Return, class... Given, std::size_t... places>
  static pybind11::object call_in_order(const Method& method, PyObject* const* given,
                                        std::index_sequence<places...>) {
    const auto function = method.target_as<Return (*)(Given...)>();
    return result_of<Return>(
        [&]() -> Return { return function(Loaded<Given>(given[places]).value()...); });
  }
  template <class Return, class Class, class... Given>
  static pybind11::object call_of(const Method& method, PyObject* const* given) {
    const auto target = method.target_as<Return (Class::*)(Given...)>();
    return call_member<Return, Class&, Given...>(target, given,
                                                 std::index_sequence_for<Given...>());
  }
  template <class Return, class Class, class... Given>
  static pybind11::object call_of_const(const Method& method, PyObject* const* given) {
    const auto target = method.target_as<Return (Class::*)(Given...) const>();
    return call_member<Return, const Class&, Given...>(target, given,
                                                       std::index_sequence_for<Given...>());
  }
  template <class Return, class Self, class... Given, class Target, std::size_t... places>
  static pybind11::object call_member(Target target, PyObject* const* given,
                                      std::index_sequence<places...>) {
    return result_of<Return>([&]() -> Return {
      return (Loaded<Self>(given[0]).value().*target)(Loaded<Given>(given[places + 1]).value()...);
    });
  }

  template <class... Given, class Target>
  static Method made(pybind11::object (*call)(const Method&, PyObject* const*), Target target) {
    static_assert(sizeof...(Given) <= most_parameters && sizeof target <= 2 * sizeof(void*));
    Method method{call};
    std::memcpy(method.target.data(), &target, sizeof target);
    method.count = sizeof...(Given);
    method.takes_rest = (false || ... || std::is_same_v<Given, const pybind11::kwargs&>);
    return method;
  }

  template <class... Names>
  Methods& add(const char* name, Method method, const Names&... names) {
    constexpr std::size_t named =
        (0 + ... + std::size_t{!std::is_same_v<Names, pybind11::kw_only>});
    method.named.reserve(named);
    (name_parameter(method, names), ...);
    finish(name, std::move(method));
    return *this;
  }
  static void name_parameter(Method& method, const pybind11::arg& parameter);
  static void name_parameter(Method& method, const pybind11::arg_v& parameter);
  // The parameters before it are given by place or by name.
  static void name_parameter(Method& method, const pybind11::kw_only& separator);
  void finish(const char* name, Method method);

  pybind11::handle owner_;
};

}  // namespace nvspan::bindings
