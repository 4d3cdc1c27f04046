// Programs on shared memory: each iteration computes on what is shared, between barriers.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/world.h"

namespace apps::dsm {

struct Problem {
  std::size_t n = 256;    ///< rows and columns
  std::size_t pages = 4;  ///< that a rank modifies
};

class Program {
 public:
  virtual ~Program() = default;
  /// Calls `barrier`, dsm::barrier() in whatever the caller puts around it, where it needs one.
  virtual void iterate(const std::function<void()>& barrier) = 0;
  /// On rank 0, which reads it; elsewhere nothing. Collective. Followed by a barrier.
  virtual std::vector<double> solution() { return {}; }
  /// What one rank alone computes without any of this.
  virtual std::vector<double> serial_solution(int) const { return {}; }
  /// On rank 0: what is wrong, or "". Collective.
  virtual std::string complaint() { return ""; }
};

struct Kind {
  std::size_t (*bytes)(const Problem&, int ranks);  ///< of shared memory, for dsm::init()
  std::unique_ptr<Program> (*make)(const Problem&, const World&);
};

/// pages, stencil and product, between dsm::init() and dsm::finalize().
const Kind* find_kind(const std::string& name);
std::vector<std::string> kind_names();

}  // namespace apps::dsm
