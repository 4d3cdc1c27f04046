// Who takes part in which call of a communicator, as far as some rank sees by itself that it does
// not: a call with wrong arguments is the MPI library's on this rank, and the others may wait here
// for it.
#pragma once
#include <cstdint>
#include <optional>

#include "node/team.h"

namespace unisono {

/// Numbers all calls of collectives that the program makes on a communicator, which are the same on
/// all ranks. Without a team of the ranks nobody is told anything.
class Attendance {
 public:
  void begin_call() { ++call_; }
  /// The number of the last call.
  const std::uint64_t& call() const { return call_; }
  /// Those who make the calls have memory together.
  void meet_in(node::Team& team) {
    team_ = &team;
    if (refused_before_ != 0) team.absences().refuse(refused_before_);
  }

  bool is_shared() const { return team_ != nullptr; }

  /// Before the last call goes to the MPI library, for what this rank alone may see of it.
  [[gnu::noinline, gnu::cold]] void refuse() {
    if (team_ == nullptr)
      refused_before_ = call_;
    else
      team_->absences().refuse(call_);
  }
  /// All from this one on go to the MPI library.
  void leave_from(std::uint64_t call) {
    if (team_ != nullptr) team_->absences().leave_from(call);
  }
  std::optional<node::RankAbsent> absence(std::uint64_t call) const {
    return team_ == nullptr ? std::nullopt : team_->absence(call);
  }
  /// Where another rank has not made the same calls: whether that is because one of the two has
  /// left an earlier one to the MPI library, and the other has not, so that both can go on there.
  bool explains_difference(int rank) const {
    if (team_ == nullptr || team_->refuses_alike(rank)) return false;
    const auto absent = team_->absence(call_);
    return !absent || !absent->refused;
  }

 private:
  std::uint64_t call_ = 0;
  std::uint64_t refused_before_ = 0;  // the last one before there was a team
  node::Team* team_ = nullptr;
};

}  // namespace unisono
