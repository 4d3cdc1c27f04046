// Who makes a communicator just now. Open MPI (5.0.11) makes those of a process one after the
// other, of older ones first, and each waits for all its ranks: one of ours that waited for one of
// another thread's would wait for ranks that come to that one only after the collective that this
// is for.
#pragma once
#include <chrono>

namespace unisono {

#ifdef OPEN_MPI
inline constexpr bool kMakesInTurn = true;
#else
inline constexpr bool kMakesInTurn = false;
#endif

/// While the program makes one by this thread, or what has one inside. Begins when Unisono makes
/// none, for which it waits for nobody but ranks that are about to make the same.
class ProgramMakes {
 public:
  ProgramMakes();
  ~ProgramMakes();
  ProgramMakes(const ProgramMakes&) = delete;
  ProgramMakes& operator=(const ProgramMakes&) = delete;
};

/// While Unisono makes one, if it may: all ranks have come, and ask each other. Begins when the
/// program makes none, for which it waits a moment.
class UnisonoMakes {
 public:
  /// Many times what making one takes if its ranks are there. Without waiting, which of a
  /// communicator's calls are Unisono's would be a matter of time, and so would the bits of sums;
  /// to wait for ever would be to wait for ranks that may come only after this call.
  static constexpr std::chrono::milliseconds kPatience{50};

  /// What has outlasted somebody's patience nobody waits for again.
  explicit UnisonoMakes(std::chrono::milliseconds patience = kPatience);
  ~UnisonoMakes();
  UnisonoMakes(const UnisonoMakes&) = delete;
  UnisonoMakes& operator=(const UnisonoMakes&) = delete;

  bool may() const { return may_; }

 private:
  bool may_;
};

/// Before MPI_Comm_idup: when the duplicate is there only MPI knows. From then on Unisono makes no
/// communicators on this rank, nor on those that would share them.
void note_duplicating() noexcept;
bool may_be_duplicating() noexcept;

}  // namespace unisono
