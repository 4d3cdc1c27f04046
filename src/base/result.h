// A value, or one line that says why there is none and what to do.
#pragma once
#include <string>
#include <utility>
#include <variant>

namespace unisono {

struct Error {
  std::string text;
};

template <class T>
class Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Error error) : held_(std::move(error)) {}

  explicit operator bool() const { return held_.index() == 0; }
  const T& operator*() const { return std::get<0>(held_); }
  T& operator*() { return std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  /// Only when there is no value.
  const std::string& error() const { return std::get<1>(held_).text; }

 private:
  std::variant<T, Error> held_;
};

}  // namespace unisono
