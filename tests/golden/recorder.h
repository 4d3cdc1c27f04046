// Which way each call of a program goes, as each rank sees it: in Unisono or in the MPI library.
#pragma once
#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

namespace golden {

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Keeps a letter for each call of this rank, step by step: `u` where Unisono ran it, `n` where it
/// looked at the call and left it to the MPI library, `-` where it did not look.
class Recorder {
 public:
  /// Makes `calls` calls, and keeps their letters under `step`. Steps of one name follow each
  /// other.
  template <class Call>
  void step(std::string_view step, int calls, const Call& call) {
    for (int k = 0; k < calls; ++k) {
      begin();
      call();
      end(step);
    }
  }

  /// Rank 0 of MPI_COMM_WORLD writes a line for each step: its name and the letters, runs of one
  /// letter as a letter and a number. Other ranks that have other letters follow below. Collective
  /// over MPI_COMM_WORLD, by messages alone.
  void write() const;

 private:
  void begin();
  void end(std::string_view step);

  unsigned long long own_ = 0, native_ = 0;
  struct Step {
    std::string name, letters;
  };
  std::vector<Step> steps_;
};

}  // namespace golden
