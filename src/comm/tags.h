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
  /// To be used once older calls have given theirs back on this rank: what is under way at once is
  /// bounded. An MPI library looks through all receives for each message, and one that has no more
  /// than the 32767 tags that MPI promises has them 31 times over. The oldest wait for no younger
  /// one: all ranks begin them in one order.
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
