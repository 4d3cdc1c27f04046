// What online selection by the model says of itself.
#include <cstdio>

#include "select/online/model_first.h"

namespace unisono {

namespace {

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.0f us", seconds * 1e6);
  else
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

}  // namespace

std::string ModelFirst::explain(int arm) const {
  if (native_ <= 0) return "native is timed";
  const std::string native = "native took " + time_text(native_);
  if (arm != 0) {
    const bool measured = !arms_[static_cast<std::size_t>(arm)].seconds.empty();
    std::string text = is_recalled() ? "remembered, " : "";
    if (measured) text += "took " + time_text(known(arm)) + ", ";
    if (predicted(arm) > 0) text += "predicted " + time_text(predicted(arm)) + ", ";
    return text + native + (arm == leader_ ? "" : ", on trial");
  }
  if (is_recalled()) return "remembered, " + native + ", no arm was better";
  if (!asked_) return native + ", too little to ask the model";
  double least = 0;
  for (std::size_t other = 1; other < arms_.size(); ++other) {
    const double said = arms_[other].promise.seconds;
    if (!arms_[other].tried && (least == 0 || said < least)) least = said;
  }
  return native + (least > 0 ? ", best predicted " + time_text(least) : ", no arm is better");
}

ArmTimes ModelFirst::times(int arm) const {
  const std::vector<double>& seconds = arms_[static_cast<std::size_t>(arm)].seconds;
  // One call of a trial, which made connections, is no time yet.
  if (seconds.empty() || (arm != 0 && !arms_[static_cast<std::size_t>(arm)].tried)) return {};
  ArmTimes times;
  times.seconds = estimate_median(seconds);
  times.ratio.median = native_ > 0 ? times.seconds.median / native_ : 0;
  times.calls = static_cast<int>(seconds.size());
  return times;
}

}  // namespace unisono
