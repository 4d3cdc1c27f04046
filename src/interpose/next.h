// The next definition of a function after Unisono's: another tool's, or the MPI library's.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

namespace unisono {

/// Finds it by name. Null: there is none.
void* find_next(const char* name);

/// As find_next, but says what is missing and ends the program.
void* require_next(const char* name);

/// Whether the next definition is that of a tool, which calls the PMPI function in its turn.
bool is_of_tool(const char* name);

template <std::size_t kLength>
struct FunctionName {
  char text[kLength];
  constexpr FunctionName(const char (&name)[kLength]) { std::copy_n(name, kLength, text); }
};

/// Next<"MPI_Bcast", decltype(MPI_Bcast)>::call(...). Found at the first call; from then on a call
/// costs a load and a jump. `kFallback` serves where there is no next definition.
template <FunctionName kName, class Function, Function* kFallback = nullptr>
class Next;

template <FunctionName kName, class Result, class... Arguments, Result (*kFallback)(Arguments...)>
class Next<kName, Result(Arguments...), kFallback> {
 public:
  static Result call(Arguments... arguments) {
    return function_.load(std::memory_order_relaxed)(arguments...);
  }

 private:
  using Function = Result (*)(Arguments...);

  static Result find_and_call(Arguments... arguments) {
    auto function = reinterpret_cast<Function>(find_next(kName.text));
    if (!function) function = kFallback;
    if (!function) function = reinterpret_cast<Function>(require_next(kName.text));
    function_.store(function, std::memory_order_relaxed);
    return function(arguments...);
  }

  static inline constinit std::atomic<Function> function_{&find_and_call};
};

/// As is_of_tool, found out at the first call.
template <FunctionName kName>
bool has_tool() {
  static const bool has = is_of_tool(kName.text);
  return has;
}

}  // namespace unisono
