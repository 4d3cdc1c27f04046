#include "apps/ft/fft.h"

#include <numbers>
#include <utility>

namespace apps::ft {

Fft::Fft(std::size_t size) : size_(size), roots_(size / 2), reversed_(size, 0) {
  for (std::size_t k = 0; k < size / 2; ++k)
    roots_[k] =
        std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size));
  for (std::size_t i = 1; i < size; ++i)
    reversed_[i] = reversed_[i / 2] / 2 + (i % 2 != 0 ? size / 2 : 0);
}

// Cooley and Tukey 1965, radix 2, decimation in time: n log2 n / 2 butterflies.
void Fft::operator()(Complex* x, int sign) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (i < reversed_[i]) std::swap(x[i], x[reversed_[i]]);
  for (std::size_t half = 1; half < size_; half *= 2) {
    const std::size_t stride = size_ / (2 * half);
    for (std::size_t first = 0; first < size_; first += 2 * half)
      for (std::size_t k = 0; k < half; ++k) {
        const double re = roots_[k * stride].real(), im = sign * roots_[k * stride].imag();
        Complex &a = x[first + k], &b = x[first + half + k];
        // Written out: the operator of std::complex looks for infinities.
        const Complex product(re * b.real() - im * b.imag(), re * b.imag() + im * b.real());
        b = a - product;
        a += product;
      }
  }
}

}  // namespace apps::ft
