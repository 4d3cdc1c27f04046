// One random collective call: its arguments on this rank, and what must come of it.
#pragma once
#include <mpi.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "buffers.h"
#include "comms.h"
#include "invocation.h"
#include "ops.h"
#include "options.h"
#include "random.h"
#include "specs.h"
#include "types.h"

namespace conformance {

class Case {
 public:
  /// Derived from (seed, number) and the communicator alone, so that all its ranks agree; only
  /// which of MPI's two forms they call may differ, where `mixed`.
  Case(std::uint64_t seed, std::uint64_t number, Collective wanted, const Communicator& comm,
       const Spec& spec, bool mixed, const Simplified& simplified);
  ~Case();
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  Collective collective() const { return in_.collective; }
  bool inter() const { return inter_; }
  /// Whether Unisono has to run it: nothing when that is its own choice.
  std::optional<bool> own_expected() const;

  /// Makes the call through MPI_ and through PMPI_ on equal buffers. What is wrong with the former,
  /// or nothing.
  std::optional<std::string> run();
  /// Other threads make calls, too: nobody can tell which of them Unisono ran.
  void among_threads() { among_threads_ = true; }
  /// In place of run(), where is_startable(): makes the call in `form` through MPI_, which
  /// returns at once; completes it; starts it again, if that is possible, to be completed again;
  /// and the rest of run(). Cases are finished in the order of their first starts, and completed in
  /// any.
  void set_form(Form form) { form_ = form; }
  void start();
  std::optional<std::string> complete(int way);
  MPI_Request& request() { return started_->request(); }
  Form form() const { return form_; }
  bool handed_on() const { return handed_on_; }
  bool start_again();
  std::optional<std::string> finish();
  /// Not where the MPI library's own such call would hang.
  bool is_startable() const { return !broken_native_nonblocking(); }
  /// As a test of who looks for defects: changes a byte of the result before it is judged.
  void spoil() { spoilt_ = true; }
  /// After run() or finish(): what is wrong with the MPI library's own result, where Unisono's is
  /// right.
  const std::optional<std::string>& native_defect() const { return native_defect_; }
  std::string text() const;

 private:
  enum class Argument { null, in_place, buffer };
  /// One direction of the call on this rank.
  struct Side {
    const Type* type = nullptr;
    long long per_group = 1;  ///< instances of `type` in one group
  };

  // case_movement.cpp. Lengths in groups: a group is what every rank's datatype divides.
  void plan_movement();
  void plan_alltoallw();
  void plan_blocks(bool sending, const std::vector<int>& peers);
  void send_equal(long long length, int blocks);
  void recv_equal(long long length, int blocks);
  void send_lengths(const std::vector<long long>& lengths);
  void recv_lengths(const std::vector<long long>& lengths);
  std::vector<long long> place(Rng& rng, const std::vector<long long>& lengths, long long* span);
  void ignore_send();
  void ignore_recv();
  void send_in_place();
  Side side(int direction, long long span);
  long long random_length();
  long long most_groups(long long bytes) const;
  bool broken_native_movement() const;
  bool broken_native_nonblocking() const;
  void avoid_native_defects();
  void invoke_plain_movement(Buffer& expected);
  /// The length of a block, of the `nth` from one rank to another.
  long long matrix(int from, int to, int nth = 0) const;
  void draw_unit(Rng& rng, std::initializer_list<long long> groups);

  // case_neighbours.cpp
  void plan_neighbours();
  std::vector<long long> edges(const std::vector<int>& peers, bool sending) const;
  int nth_edge(const std::vector<int>& peers, std::size_t i) const;

  // case_reduction.cpp
  void plan_reduction();
  void choose_reduction();
  const Type& reduction_type(long long instances);
  void invoke_plain_reduction(Buffer& native);

  // case_inter.cpp
  void plan_inter();

  void finish_plan();
  Invocation into(Buffer& buffer) const;
  void invoke_reference(Buffer& native);
  void invoke_reference_again();
  std::optional<std::string> judge();
  /// `gaps`: also what is no data must be as it was.
  std::optional<std::string> compare(const Buffer& result, const Buffer& expected, bool gaps) const;
  bool is_among_all() const { return unisono::contains(unisono::kAmongAll, in_.collective); }
  bool is_root() const { return rank_ == in_.root; }

  std::uint64_t seed_, number_, colour_;
  Spec spec_;
  Rng common_, local_;
  int rank_ = 0, size_ = 1, remote_size_ = 0;
  bool inter_ = false, has_topology_ = false, in_place_ = false;
  std::string comm_text_;
  Neighbours neighbours_;
  Simplified simplified_;
  Invocation in_;
  Argument send_argument_ = Argument::null, recv_argument_ = Argument::null;

  Unit unit_;
  int group_ = 1;           // units per group
  bool same_types_ = true;  // all ranks choose the same datatypes
  bool interleave_ = true;  // datatypes may be such that their instances interleave
  std::optional<Reduction> reduction_;
  std::deque<Type> types_;
  const Type* reduced_ = nullptr;
  /// The MPI library fails with these datatypes, so that only plain ones are given to it: see
  /// broken_native_reduction() and broken_native_movement().
  bool plain_reference_ = false;
  std::optional<std::string> native_defect_;

  Buffer send_, recv_;
  std::vector<Block> send_blocks_, recv_blocks_;
  std::vector<Expect> expect_;
  /// What happens to the data of recv_blocks_, and of those listed here when it differs.
  Expect recv_expect_ = Expect::result;
  std::vector<Block> undefined_blocks_, idle_blocks_;

  Buffer own_, native_;  // what came of the call
  std::vector<std::uint8_t> send_before_;
  std::optional<Started> started_;
  Form form_ = Form::blocking;
  bool handed_on_ = false, among_threads_ = false, spoilt_ = false;
};

}  // namespace conformance
