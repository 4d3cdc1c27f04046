#include "wrong_call.h"

#include <vector>

#include "invocation.h"
#include "types.h"

namespace conformance {

namespace {

using unisono::CollectiveSet;
using unisono::set_of;
using C = Collective;

constexpr CollectiveSet kNeighbours =
    set_of(C::neighbor_allgather, C::neighbor_allgatherv, C::neighbor_alltoall,
           C::neighbor_alltoallv, C::neighbor_alltoallw);
constexpr CollectiveSet kMoving = set_of(C::gather, C::scatter, C::allgather, C::alltoall);

void spoil_root(Invocation& in, int size, Rng& rng) {
  in.root = static_cast<int>(rng.pick({-1, size, size + 1000}));
}
void spoil_count(Invocation& in, int, Rng& rng) {
  in.sendcount = in.recvcount = rng.pick({-1, -1000});
}
void spoil_type(Invocation& in, int, Rng&) { in.sendtype = in.recvtype = MPI_DATATYPE_NULL; }
void spoil_operation(Invocation& in, int, Rng&) { in.op = MPI_OP_NULL; }
void spoil_pair(Invocation& in, int, Rng& rng) {
  switch (rng.below(3)) {
    case 0: in.recvtype = MPI_DOUBLE, in.op = MPI_BAND; break;
    case 1: in.recvtype = MPI_2INT, in.op = MPI_SUM; break;
    default: in.recvtype = MPI_INT, in.op = MPI_MINLOC; break;
  }
}
void spoil_place(Invocation& in, int, Rng&) { in.recvbuf = MPI_IN_PLACE; }
void spoil_nothing(Invocation&, int, Rng&) {}

/// What the MPI libraries refuse on every rank before they communicate. Left out: null datatypes of
/// reductions (MPICH 5.0.2 dies of them), counts of reductions and of calls with counts for each
/// rank (MPICH looks at few of them; Open MPI 5.0.11 takes some for nothing); the wrong
/// side in place of MPI_Exscan (Open MPI 5.0.11 dies of it).
struct Wrong {
  const char* what;
  CollectiveSet where;
  void (*spoil)(Invocation& in, int size, Rng& rng);
};
constexpr Wrong kWrong[] = {
    {"a root that is not there", unisono::kRooted, spoil_root},
    {"a negative count", kMoving | set_of(C::bcast), spoil_count},
    {"no datatype", kMoving | set_of(C::bcast), spoil_type},
    {"no operation", unisono::kReducing, spoil_operation},
    {"an operation that is not defined for the datatype", unisono::kReducing, spoil_pair},
    {"the receive buffer in place",
     set_of(C::allgather, C::alltoall, C::allreduce, C::reduce_scatter_block, C::scan),
     spoil_place},
    {"no neighbours", kNeighbours, spoil_nothing},
};

thread_local int t_handled = 0, t_code = MPI_SUCCESS;
void on_error(MPI_Comm*, int* code, ...) {
  ++t_handled;
  t_code = *code;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &error_class);
  return error_class;
}

/// The error handler of a communicator for a while.
class Handling {
 public:
  Handling(MPI_Comm comm, MPI_Errhandler handler) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &before_);
    MPI_Comm_set_errhandler(comm_, handler);
  }
  ~Handling() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

struct Answer {
  int error_class, handled, handled_class;
};

Answer ask(const Invocation& in, Form form, EntryPoint through) {
  t_handled = 0;
  t_code = MPI_SUCCESS;
  int code = MPI_SUCCESS;
  if (form == Form::blocking) {
    code = invoke(in, through);
  } else {
    Started started(in, form, through);
    code = started.code();
    if (code == MPI_SUCCESS && started.request() != MPI_REQUEST_NULL) {
      started.complete(0);
      started.free();
    }
  }
  return {class_of(code), t_handled, class_of(t_code)};
}

std::string text_of(const Answer& answer) {
  return "class " + std::to_string(answer.error_class) + ", handler called " +
         std::to_string(answer.handled) + " times, with class " +
         std::to_string(answer.handled_class);
}

}  // namespace

WrongCall make_wrong_call(Rng& rng, const Communicator& comm, const std::string& doing) {
  int size = 1;
  PMPI_Comm_size(comm.handle, &size);
  const auto p = static_cast<std::size_t>(size);
  const Wrong& wrong = kWrong[static_cast<std::size_t>(rng.below(std::size(kWrong)))];
  std::vector<Collective> possible;
  for (int c = 0; c < unisono::kCollectives; ++c)
    if (unisono::contains(wrong.where, static_cast<Collective>(c)))
      possible.push_back(static_cast<Collective>(c));
  Invocation in;
  in.collective = rng.pick(possible);
  in.comm = comm.handle;
  auto form = static_cast<Form>(rng.below(3));
  in.large = rng.chance(30);
  WrongCall call;
  // There a call is right; on one rank MPI libraries are less strict; and there are two groups.
  // MPICH 4.0.2 has now this error, now that, where there are no neighbours.
  if (comm.inter || size == 1 ||
      (unisono::contains(kNeighbours, in.collective) && (comm.has_topology || is_old_mpich())))
    return call;
  // MPICH 4.0.2: after a persistent one the communicator's nonblocking collectives hang;
  // large-count ones have now this error, now that.
  if (is_old_mpich()) form = Form::blocking, in.large = false;
  if (!has_function(in.collective, form, false, EntryPoint::native)) form = Form::blocking;
  in.large = in.large && has_function(in.collective, form, true, EntryPoint::native);
  std::vector<double> from(4 * p), to(4 * p);
  in.sendbuf = from.data();
  in.recvbuf = to.data();
  in.sendcount = in.recvcount = 1;
  in.sendtype = in.recvtype = MPI_INT;
  in.sendcounts = in.recvcounts = std::vector<long long>(p, 1);
  in.sdispls = in.rdispls = std::vector<long long>(p, 0);
  in.sendtypes = in.recvtypes = std::vector<MPI_Datatype>(p, MPI_INT);
  in.op = MPI_SUM;
  wrong.spoil(in, size, rng);
  call.text = std::string(unisono::name(in.collective)) + (in.large ? "_c" : "") +
              (form == Form::nonblocking  ? ", nonblocking,"
               : form == Form::persistent ? ", persistent,"
                                          : "") +
              " with " + wrong.what + " on " + comm.text + " of " + std::to_string(size);
  tell(doing + call.text);

  const bool own_handler = rng.chance(50);
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (own_handler) MPI_Comm_create_errhandler(on_error, &handler);
  // Open MPI 5.0.11 makes some of them errors of MPI_COMM_WORLD.
  const Handling here(comm.handle, handler), world(MPI_COMM_WORLD, handler);
  if (own_handler) MPI_Errhandler_free(&handler);
  const Answer native = ask(in, form, EntryPoint::native);
  call.refused = native.error_class != MPI_SUCCESS || native.handled > 0;
  if (call.refused) {
    const Answer own = ask(in, form, EntryPoint::interposed);
    if (own.error_class != native.error_class || own.handled != native.handled ||
        own.handled_class != native.handled_class)
      call.wrong = text_of(own) + "; natively " + text_of(native);
  }
  return call;
}

}  // namespace conformance
