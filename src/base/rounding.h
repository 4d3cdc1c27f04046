// Decisions that every rank takes for itself, from numbers that all have.
#pragma once
#include <cfenv>

namespace unisono {

/// To the nearest while it lives. A program may let its ranks round in different directions, and
/// sizes that are computed must be the same on all.
class RoundingToNearest {
 public:
  RoundingToNearest() {
    if (before_ != FE_TONEAREST) std::fesetround(FE_TONEAREST);
  }
  ~RoundingToNearest() {
    if (before_ != FE_TONEAREST) std::fesetround(before_);
  }
  RoundingToNearest(const RoundingToNearest&) = delete;
  RoundingToNearest& operator=(const RoundingToNearest&) = delete;

 private:
  const int before_ = std::fegetround();
};

}  // namespace unisono
