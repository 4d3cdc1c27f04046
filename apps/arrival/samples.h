// What is kept of a call, and how it is written.
#pragma once
#include <algorithm>
#include <cstdio>
#include <vector>

namespace apps::arrival {

/// Of one call on one rank.
struct Sample {
  double arrive, leave, computed;
  double by_unisono;  ///< 1 or 0, alike on all ranks
};
constexpr int kNumbers = 4;

template <class Value>
void print_column(std::FILE* out, const char* name, std::size_t calls, Value&& value,
                  const char* end = ",") {
  std::fprintf(out, "\"%s\":[", name);
  for (std::size_t i = 0; i < calls; ++i) std::fprintf(out, "%s%.9g", i == 0 ? "" : ",", value(i));
  std::fprintf(out, "]%s", end);
}

/// `all`: the samples of rank 0, then those of rank 1, ...
inline void print_pattern(std::FILE* out, const std::vector<Sample>& all, std::size_t calls) {
  const auto over_ranks = [&](std::size_t i, auto&& number, auto&& combine, double start) {
    double result = start;
    for (std::size_t at = i; at < all.size(); at += calls)
      result = combine(result, number(all[at]));
    return result;
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto smaller = [](double a, double b) { return std::min(a, b); };
  const auto sum = [](double a, double b) { return a + b; };
  const auto elapsed = [](const Sample& s) { return s.leave - s.arrive; };
  const auto spread = [&](auto&& number) {
    return [&, number](std::size_t i) {
      return over_ranks(i, number, larger, -1e300) - over_ranks(i, number, smaller, 1e300);
    };
  };
  const double ranks = static_cast<double>(all.size() / calls);
  std::fputs("{", out);
  print_column(out, "mean_elapsed_s", calls,
               [&](std::size_t i) { return over_ranks(i, elapsed, sum, 0) / ranks; });
  print_column(out, "max_elapsed_s", calls,
               [&](std::size_t i) { return over_ranks(i, elapsed, larger, 0); });
  print_column(out, "arrival_s", calls, spread([](const Sample& s) { return s.arrive; }));
  print_column(out, "exit_s", calls, spread([](const Sample& s) { return s.leave; }));
  print_column(out, "computation_s", calls, spread([](const Sample& s) { return s.computed; }));
  print_column(
      out, "by_unisono", calls, [&](std::size_t i) { return all[i].by_unisono; }, "}");
}

}  // namespace apps::arrival
