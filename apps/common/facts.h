// What a run was asked for, and did: names and values for its report.
#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace apps {

struct Fact {
  std::string name;
  std::variant<std::string, long long, double, std::vector<std::size_t>> value;

  Fact(std::string fact, std::string text) : name(std::move(fact)), value(std::move(text)) {}
  Fact(std::string fact, double number) : name(std::move(fact)), value(number) {}
  Fact(std::string fact, std::vector<std::size_t> numbers)
      : name(std::move(fact)), value(std::move(numbers)) {}
  Fact(std::string fact, std::integral auto number)
      : name(std::move(fact)), value(static_cast<long long>(number)) {}
};

using Facts = std::vector<Fact>;

}  // namespace apps
