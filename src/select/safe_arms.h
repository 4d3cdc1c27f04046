// Safe first: which arm runs a call between hosts, from its first call on. A rule of what is equal
// in all runs of a program on the same ranks and hosts, so that its bits are the same, too; nothing
// of it was measured in this job or an earlier one.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "select/facts.h"
#include "select/spec.h"

namespace unisono {

/// With flow control: it keeps few enough bytes under way that no port of a switch drops any. Where
/// several ranks are on a host their kernels run within it, and the arm between.
struct SafeArm {
  Spec spec;
  bool leads = true;  ///< else the MPI library's own does until a check has shown which is faster
};

/// What runs under one MPI library.
class SafeRule {
 public:
  /// `flavour`: as Platform has it.
  explicit SafeRule(std::string_view flavour) : flavour_(flavour) {}

  /// Nothing: the MPI library's own, which takes no longer in calls as short as this, or nobody
  /// knows a better one.
  std::optional<SafeArm> arm(const Facts& facts) const;
  /// All lengths for which there may be one.
  ByteRange reach(Collective collective, int size, int nodes) const;

 private:
  std::string flavour_;
};

}  // namespace unisono
