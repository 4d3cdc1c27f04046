// The fast Fourier transform of vectors whose length is a power of two.
#pragma once
#include <complex>
#include <vector>

namespace apps::ft {

using Complex = std::complex<double>;

class Fft {
 public:
  explicit Fft(std::size_t size);
  /// In place: x_k = sum_j x_j exp(sign 2 pi i j k / n), without a factor.
  void operator()(Complex* x, int sign) const;
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::vector<Complex> roots_;         // exp(2 pi i k / n), k < n / 2
  std::vector<std::size_t> reversed_;  // the index with its bits in reverse
};

}  // namespace apps::ft
