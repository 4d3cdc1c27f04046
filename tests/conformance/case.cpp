#include "case.h"

#include <cstdio>

#include "algorithms/composition.h"
#include "unisono_api.h"

namespace conformance {

namespace {

std::string join(const std::vector<long long>& numbers) {
  std::string text;
  for (const long long n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return "[" + text + "]";
}

std::uint64_t colour_of(const Communicator& c) {
  // The two groups of an inter-communicator take part in the same call.
  return c.inter ? 0 : static_cast<std::uint64_t>(c.colour);
}

std::uint64_t world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return static_cast<std::uint64_t>(rank);
}

}  // namespace

Case::Case(std::uint64_t seed, std::uint64_t number, Collective wanted, const Communicator& comm,
           const Spec& spec, bool mixed, const Simplified& simplified)
    : seed_(seed),
      number_(number),
      colour_(colour_of(comm)),
      spec_(spec),
      common_{seed, number, 1, colour_of(comm)},
      local_{seed, number, 2, world_rank()},
      inter_(comm.inter),
      has_topology_(comm.has_topology),
      comm_text_(comm.text),
      neighbours_(comm.neighbours),
      simplified_(simplified) {
  in_.collective = wanted;
  in_.comm = comm.handle;
  PMPI_Comm_rank(comm.handle, &rank_);
  PMPI_Comm_size(comm.handle, &size_);
  const bool has_large = has_function(wanted, Form::blocking, true, EntryPoint::interposed);
  in_.large = has_large && common_.chance(40) && !simplified.plain;
  in_.root = static_cast<int>(common_.below(size_));
  same_types_ = common_.chance(40);
  if (inter_) {
    PMPI_Comm_remote_size(comm.handle, &remote_size_);
    plan_inter();
  } else if (unisono::is_reducing(wanted)) {
    plan_reduction();
  } else if (!unisono::contains(unisono::kAmongAll, wanted)) {
    plan_neighbours();
  } else if (wanted == Collective::alltoallw) {
    plan_alltoallw();
  } else if (wanted != Collective::barrier) {
    plan_movement();
  }
  // A large-count operation is for large-count reductions.
  const bool alike = reduction_ && reduction_->text.ends_with("_c");
  if (mixed && has_large && !alike && !simplified.plain) in_.large = local_.chance(50);
  finish_plan();
}

std::optional<bool> Case::own_expected() const {
  if (inter_ || size_ == 1 || spec_.text == "native" || !has_unisono()) return false;
  if (spec_.algorithm == nullptr || among_threads_) return std::nullopt;
  if (!is_among_all()) return std::nullopt;
  // Not before the communicator has a duplicate, nor where phases wait.
  if (form_ != Form::blocking) return std::nullopt;
  // Whether the node has room, and how the ranks are placed, is for the runtime to say.
  const unisono::Composition* grid = spec_.params.composition;
  if ((spec_.algorithm->restrictions & unisono::kOneNode) != 0 ||
      spec_.params.transport == unisono::TransportKind::shm ||
      (grid != nullptr && (unisono::runs_in_nodes(*grid) || !grid->levels.empty())))
    return std::nullopt;
  const bool commutative = !reduction_ || reduction_->commutative;
  unisono::Algorithm asked = *spec_.algorithm;
  if (places_ranks()) asked.restrictions &= ~unsigned{unisono::kTorus};  // on a torus
  return !unisono::unmet_restriction(asked, {size_, commutative}, spec_.params);
}

/// Between groups MPICH 5.0.2 and Open MPI 5.0.11 hang now and then, beside other collectives
/// there, and Open MPI in an Ialltoallw in place; Open MPI 4.1.4 in any on a communicator with a
/// topology, whose neighbours it counts, and it takes no tag for an Ialltoallv in place on a rank
/// whose counts are all 0. What fails in blocking calls fails here, too; and Unisono may leave any
/// of these to the library.
bool Case::broken_native_nonblocking() const {
  const bool is_v = in_.collective == Collective::alltoallv;
  const bool is_w = in_.collective == Collective::alltoallw;
  return inter_ || plain_reference_ || (is_w && in_place_) ||
         (is_old_open_mpi() && ((is_w && has_topology_) || (is_v && in_place_)));
}

Case::~Case() {
  if (reduced_ != nullptr) unregister_type(*reduced_);
}

void Case::finish_plan() {
  for (const Block& b : send_blocks_) send_.cover(b);
  for (const Block& b : recv_blocks_) recv_.cover(b);
  for (const Block& b : undefined_blocks_) recv_.cover(b);
  send_.allocate(local_);
  recv_.allocate(local_);
  if (reduction_) {
    for (const Block& b : send_blocks_) send_.write_values(b, *reduction_, local_);
    for (const Block& b : undefined_blocks_) recv_.write_values(b, *reduction_, local_);
    if (in_place_)
      for (const Block& b : recv_blocks_) recv_.write_values(b, *reduction_, local_);
  }

  expect_.assign(recv_.bytes().size(), Expect::untouched);
  for (const Block& b : undefined_blocks_) recv_.mark(expect_, b, Expect::undefined);
  for (const Block& b : recv_blocks_) recv_.mark(expect_, b, recv_expect_);
  for (const Block& b : idle_blocks_) recv_.mark(expect_, b, Expect::untouched);
  if (in_.sendbuf == nullptr && send_argument_ == Argument::buffer) in_.sendbuf = send_.address();
  if (send_argument_ == Argument::in_place) in_.sendbuf = MPI_IN_PLACE;
}

Invocation Case::into(Buffer& buffer) const {
  Invocation in = in_;
  in.recvbuf = recv_argument_ == Argument::in_place ? MPI_IN_PLACE
               : recv_argument_ == Argument::null   ? nullptr
                                                    : buffer.address();
  return in;
}

void Case::invoke_reference(Buffer& native) {
  if (!plain_reference_)
    invoke(into(native), EntryPoint::native);
  else if (reduction_)
    invoke_plain_reduction(native);
}

std::optional<std::string> Case::run() {
  own_ = native_ = recv_;
  send_before_ = send_.bytes();
  const bool own_first = common_.chance(50);
  const unsigned long long own_before = own_calls();
  if (!own_first) invoke_reference(native_);
  const int code = invoke(into(own_), EntryPoint::interposed);
  handed_on_ = among_threads_ || own_calls() == own_before;
  if (own_first) invoke_reference(native_);
  if (code != MPI_SUCCESS) return "error code " + std::to_string(code);
  return judge();
}

void Case::start() {
  own_ = native_ = recv_;
  send_before_ = send_.bytes();
  const unsigned long long own_before = own_calls();
  started_.emplace(into(own_), form_);
  handed_on_ = among_threads_ || own_calls() == own_before;
}

std::optional<std::string> Case::complete(int way) {
  const int code = started_->code() == MPI_SUCCESS ? started_->complete(way) : started_->code();
  if (code != MPI_SUCCESS) return "error code " + std::to_string(code);
  return std::nullopt;
}

bool Case::start_again() {
  // Intel MPI's own (2021.19) crash when they are started a second time.
  if (is_intel_mpi()) return false;
  // In place these begin with what came of them.
  const bool differs =
      unisono::is_reducing(in_.collective) || in_.collective == Collective::alltoall ||
      in_.collective == Collective::alltoallv || in_.collective == Collective::alltoallw;
  const bool again = common_.chance(50) && form_ == Form::persistent && !differs;
  return again && started_->start_again() == MPI_SUCCESS;
}

std::optional<std::string> Case::finish() {
  if (const int code = started_->free(); code != MPI_SUCCESS)
    return "error code " + std::to_string(code) + " when it is freed";
  invoke_reference_again();
  return judge();
}

/// Among neighbours in the same form, for some MPI libraries' nonblocking ones are wrong. Open MPI
/// 5.0.11: what is sent downwards in a ring of one or two ranks must come from upwards, and does in
/// blocking calls only. MPICH 4.0.2: blocks of MPI_Ineighbor_alltoallw do not come.
void Case::invoke_reference_again() {
  if (plain_reference_ || is_among_all()) return invoke_reference(native_);
  const bool has_form = has_function(in_.collective, form_, false, EntryPoint::native);
  Started same(into(native_), has_form ? form_ : Form::nonblocking, EntryPoint::native);
  same.complete(0);
  same.free();
}

std::optional<std::string> Case::judge() {
  if (spoilt_) own_.spoil(expect_);
  if (send_before_ != send_.bytes()) return "the send buffer was changed";
  if (reduction_ || inter_ || in_.collective == Collective::barrier) {
    const auto wrong = compare(own_, native_, !handed_on_);
    // Intel MPI writes into the gaps of pairs of a value and an index.
    if (handed_on_ && !wrong) native_defect_ = compare(own_, native_, true);
    return wrong;
  }

  // Data must arrive as sent, whatever the MPI library makes of them; but what was handed on to it
  // may be as wrong as it is.
  Buffer expected = recv_;
  invoke_plain_movement(expected);
  if (!plain_reference_) native_defect_ = compare(native_, expected, true);
  // What it writes into gaps need not be the same twice.
  if (handed_on_ && native_defect_) return compare(own_, native_, !compare(native_, native_, true));
  return compare(own_, expected, true);
}

std::optional<std::string> Case::compare(const Buffer& result, const Buffer& expected,
                                         bool gaps) const {
  for (std::size_t i = 0; i < expect_.size(); ++i) {
    if (expect_[i] == Expect::undefined) continue;
    const bool data = expect_[i] == Expect::result;
    if (!data && !gaps) continue;
    const unsigned wanted = data ? expected.bytes()[i] : recv_.bytes()[i];
    const unsigned got = result.bytes()[i];
    if (got == wanted) continue;
    char line[160];
    std::snprintf(line, sizeof line,
                  "byte %ld of the receive buffer%s is %02x, not %02x (was %02x)",
                  static_cast<long>(result.offset_of(i)), data ? "" : ", which is no data,", got,
                  wanted, static_cast<unsigned>(recv_.bytes()[i]));
    return line;
  }
  return std::nullopt;
}

std::string Case::text() const {
  const char* prefix = form_ == Form::nonblocking ? "MPI_I" : "MPI_";
  std::string s = prefix + std::string(unisono::name(in_.collective)) + (in_.large ? "_c" : "");
  if (form_ == Form::persistent) s += "_init";
  s += " on " + comm_text_ + ", rank " + std::to_string(rank_) + " of " + std::to_string(size_);
  if (inter_) s += " (remote " + std::to_string(remote_size_) + ")";
  if (unisono::is_rooted(in_.collective)) s += ", root " + std::to_string(in_.root);
  if (in_place_) s += ", in place";
  if (reduction_) s += ", op " + reduction_->text;
  if (plain_reference_) s += " (no native call with these types)";
  const auto describe = [&](const char* what, const std::vector<Block>& blocks, long long count,
                            const std::vector<long long>& counts,
                            const std::vector<long long>& displs) {
    if (blocks.empty()) return;
    s += std::string(", ") + what + " ";
    s += counts.empty() ? std::to_string(count) : join(counts);
    if (!displs.empty()) s += " at " + join(displs);
    if (unisono::semantics(in_.collective).receive.shape != unisono::SideShape::types) {
      s += " x " + blocks.front().type->text();
      return;
    }
    for (const Block& b : blocks)
      s += ", " + std::to_string(b.count) + " x " + b.type->text() + " at " + std::to_string(b.at);
  };
  describe("send", send_blocks_, in_.sendcount, in_.sendcounts, in_.sdispls);
  describe("recv", recv_blocks_, in_.recvcount, in_.recvcounts, in_.rdispls);
  return s;
}

}  // namespace conformance
