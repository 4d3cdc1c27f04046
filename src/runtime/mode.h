// What UNISONO and UNISONO_WAIT say.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wait_mode.h"

namespace unisono {

enum class Mode : std::uint8_t {
  automatic,  ///< measure, learn, remember
  measure,    ///< the same, as if nothing had been remembered
  fixed,      ///< what is forced, in a profile, remembered or in the table, equal from call to call
  off,        ///< everything runs in the MPI library
};

inline Result<Mode> parse_mode(const std::string& text) {
  if (text == "auto") return Mode::automatic;
  if (text == "measure") return Mode::measure;
  if (text == "fixed") return Mode::fixed;
  if (text == "off") return Mode::off;
  return Error{"no such mode; valid are auto, measure, fixed, off"};
}

struct AskedWait {
  WaitMode mode = WaitMode::sleep;
  /// Before the first sleep of a wait. Nothing: as many as have turned out to be good.
  std::optional<int> yields;
};

/// Nothing: auto.
inline Result<std::optional<AskedWait>> parse_wait(const std::string& text) {
  constexpr std::string_view kSleep = "sleep:";
  constexpr int kMostYields = 99'999;
  if (text == "auto") return std::optional<AskedWait>();
  if (text == "spin") return std::optional(AskedWait{WaitMode::spin, {}});
  if (text == "yield") return std::optional(AskedWait{WaitMode::yield, {}});
  if (text == "sleep") return std::optional(AskedWait{WaitMode::sleep, {}});
  int yields = -1;
  const char* const end = text.data() + text.size();
  if (text.starts_with(kSleep) &&
      std::from_chars(text.data() + kSleep.size(), end, yields).ptr == end && yields >= 0 &&
      yields <= kMostYields)
    return std::optional(AskedWait{WaitMode::sleep, yields});
  return Error{"no such way; valid are auto, spin, yield, sleep, sleep:16, ...; auto holds"};
}

}  // namespace unisono
