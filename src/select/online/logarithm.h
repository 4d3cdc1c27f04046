// The natural logarithm by operations that every processor rounds alike. std::log has variants by
// processor: their last bits differ, and with them the decisions of ranks on different nodes.
#pragma once
#include <cmath>
#include <numbers>

namespace unisono {

/// Precondition: x > 0 and finite. Error below 1e-12.
inline double same_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact
  if (mantissa < 1 / std::numbers::sqrt2) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 atanh((m-1)/(m+1)), |(m-1)/(m+1)| < 0.172
  const double s = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int k = 17; k >= 1; k -= 2) sum = sum * s * s + 1.0 / k;
  return 2 * s * sum + exponent * std::numbers::ln2;
}

}  // namespace unisono
