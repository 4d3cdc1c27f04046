// Who makes a communicator just now. Open MPI (5.0.11) makes those of a process one after the
// other, of older ones first, and each waits for all its ranks: one of ours that waited for one of
// another thread's would wait for ranks that come to that one only after the collective that this
// is for.
#pragma once

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

/// While Unisono makes one, if it may: all ranks have come, and ask each other.
class UnisonoMakes {
 public:
  UnisonoMakes();
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
