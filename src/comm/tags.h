// The tags of the calls on a private duplicate. All ranks ask in the same order, and get the same.
#pragma once
#include <mutex>
#include <optional>
#include <vector>

namespace unisono {

/// kChannelDepth tags for one collective, from first() on.
struct Tags {
  unsigned number = 0;
  bool lasting = false;

  int first() const;
};

/// Of one communicator. Another thread may end a request in flight while the program's starts the
/// next.
class TagBook {
 public:
  /// An MPI library that has no more than the 32767 tags that MPI promises has them 31 times over:
  /// then they may be used once an older call has given them back on this rank.
  Tags take();
  bool may_use(Tags tags) const;
  void give_back(Tags tags) noexcept;
  /// For a persistent request, which may be started in any order: nobody else gets them again.
  /// Nothing, on all ranks: there are no more.
  std::optional<Tags> take_lasting();

 private:
  mutable std::mutex mutex_;
  std::vector<unsigned> live_;  // the oldest first
  unsigned taken_ = 0, lasting_ = 0;
};

/// After MPI_Init: asks how many there are.
void start_tags();

}  // namespace unisono
