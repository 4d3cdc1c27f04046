// What UNISONO and UNISONO_WAIT say.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

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

/// Nothing: auto.
inline Result<std::optional<WaitMode>> parse_wait(const std::string& text) {
  if (text == "auto") return std::optional<WaitMode>();
  if (text == "spin") return std::optional(WaitMode::spin);
  if (text == "yield") return std::optional(WaitMode::yield);
  if (text == "sleep") return std::optional(WaitMode::sleep);
  return Error{"no such way; valid are auto, spin, yield, sleep; auto holds"};
}

}  // namespace unisono
