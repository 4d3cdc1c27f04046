// Wrong calls, one after the other, each on a communicator of its own after right calls of the same
// collective. scripts/wrong_calls.py runs it natively and under Unisono, and compares.
//
//   mpiexec -n 2 wrong_calls RESULTS CELL...   writes lines "CELL OUTCOME" to RESULTS.<rank>, and
//                                              "CELL own N": how many right calls Unisono ran
//   wrong_calls list                           prints lines "CELL what"
//
// A call that does not return within kSeconds hangs; then, and after a crash, the job is over, and
// is to be started again with the next cell.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "check.h"
#include "invocation.h"
#include "schedule/semantics.h"

namespace {

using conformance::EntryPoint;
using conformance::Form;
using conformance::Invocation;
using unisono::Collective;
using unisono::CollectiveSet;
using unisono::set_of;
using C = Collective;

constexpr unsigned kSeconds = 2;
constexpr int kRanks = 2, kFew = 4, kMany = 1 << 15;
constexpr std::size_t kBytes = kRanks * 2 * sizeof(int) * kMany, kGuard = 1 << 19;
constexpr char kUntouched = 0x5a;

void spoil_root_low(Invocation& in) { in.root = -1; }
void spoil_root_high(Invocation& in) { in.root = kRanks; }
void spoil_root_other(Invocation& in) { in.root = 1; }
void spoil_count(Invocation& in) {
  in.sendcount = in.recvcount = -1;
  in.sendcounts = in.recvcounts = {-1, -1};
}
void scale(Invocation& in, long long by, long long from) {
  for (auto* counts : {&in.sendcounts, &in.recvcounts})
    for (long long& count : *counts) count = count * by / from;
  in.sendcount = in.sendcount * by / from;
  in.recvcount = in.recvcount * by / from;
}
void spoil_shorter(Invocation& in) { scale(in, 1, 2); }
void spoil_longer(Invocation& in) { scale(in, 2, 1); }
void spoil_receive(Invocation& in) {
  in.recvcount /= 2;
  for (long long& count : in.recvcounts) count /= 2;
}
void spoil_type(Invocation& in) {
  in.sendtype = in.recvtype = MPI_DATATYPE_NULL;
  in.sendtypes = in.recvtypes = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
}
void spoil_commit(Invocation& in) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, MPI_INT, &type);
  in.sendtype = in.recvtype = type;
  in.sendtypes = in.recvtypes = {type, type};
}
void spoil_operation(Invocation& in) { in.op = MPI_OP_NULL; }
void spoil_pair(Invocation& in) { in.recvtype = MPI_FLOAT, in.op = MPI_BAND; }
void spoil_operation_other(Invocation& in) { in.op = MPI_MAX; }
void spoil_comm(Invocation& in) { in.comm = MPI_COMM_NULL; }
void spoil_buffers(Invocation& in) { in.sendbuf = in.recvbuf; }
void spoil_memory(Invocation& in) { in.sendbuf = in.recvbuf = nullptr; }
void spoil_place(Invocation& in) { in.recvbuf = MPI_IN_PLACE; }
void spoil_collective(Invocation& in) { in.collective = C::barrier; }

constexpr CollectiveSet kAll = (CollectiveSet{1} << unisono::kCollectives) - 1;
constexpr CollectiveSet kWithData = kAll & ~set_of(C::barrier);
constexpr CollectiveSet kWithSides = kWithData & ~set_of(C::bcast);
constexpr CollectiveSet kMoving = kWithSides & ~unisono::kReducing;

enum class On { rank0, rank1, both };
constexpr const char* kOn[] = {"rank 0", "rank 1", "both ranks"};

/// Wrong is what one rank does, or both do.
struct Wrong {
  const char* what;
  CollectiveSet where;
  void (*spoil)(Invocation& in);
  bool disagrees = false;  ///< wrong on one rank only: on both it is right
  int count = kFew;
};
constexpr Wrong kWrong[] = {
    {"root -1", unisono::kRooted, spoil_root_low},
    {"root p", unisono::kRooted, spoil_root_high},
    {"another root", unisono::kRooted, spoil_root_other, true},
    {"count -1", kWithData, spoil_count},
    {"half the count", kWithData, spoil_shorter, true},
    {"half the count, long", kWithData, spoil_shorter, true, kMany},
    {"twice the count", kWithData, spoil_longer, true},
    {"twice the count, long", kWithData, spoil_longer, true, kMany},
    {"receives half", kMoving, spoil_receive},
    {"receives half, long", kMoving, spoil_receive, false, kMany},
    {"no datatype", kWithData, spoil_type},
    {"datatype not committed", kWithData, spoil_commit},
    {"no operation", unisono::kReducing, spoil_operation},
    {"operation not for the datatype", unisono::kReducing, spoil_pair},
    {"another operation", unisono::kReducing, spoil_operation_other, true},
    {"no communicator", kAll, spoil_comm},
    {"one buffer for both", kWithSides, spoil_buffers},
    {"null buffers", kWithData, spoil_memory},
    {"receives in place", kWithSides, spoil_place},
    {"another collective", kWithData, spoil_collective, true},
};

struct Cell {
  Collective collective;
  Form form;
  const Wrong* wrong;
  On on;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Form form : {Form::blocking, Form::nonblocking})
    for (int c = 0; c < unisono::kCollectives; ++c)
      for (const Wrong& wrong : kWrong)
        for (const On on : {On::rank0, On::rank1, On::both}) {
          const auto collective = static_cast<Collective>(c);
          if (!unisono::contains(wrong.where, collective) || (wrong.disagrees && on == On::both))
            continue;
          all.push_back({collective, form, &wrong, on});
        }
  return all;
}

// What a signal's handler uses.
int g_results = -1;
int g_cell = 0;

void write_outcome(const char* outcome) {
  char line[100];
  const int length = std::snprintf(line, sizeof line, "%d %s\n", g_cell, outcome);
  if (write(g_results, line, static_cast<std::size_t>(length)) != length) _exit(3);
}

volatile std::sig_atomic_t g_calling = 0;

void on_signal(int signal) {
  if (g_calling != 0) write_outcome(signal == SIGALRM ? "hangs" : "crashes");
  _exit(2);
}

/// Right calls, alike on both ranks.
Invocation right_call(const Cell& cell, MPI_Comm comm, char* from, char* to) {
  const int count = cell.wrong->count;
  Invocation in;
  in.collective = cell.collective;
  in.comm = comm;
  in.sendbuf = from;
  in.recvbuf = to;
  in.sendcount = in.recvcount = count;
  in.sendtype = in.recvtype = MPI_INT;
  in.sendcounts = in.recvcounts = {count, count};
  in.sdispls = in.rdispls = {0, 2 * count};
  in.sendtypes = in.recvtypes = {MPI_INT, MPI_INT};
  if (cell.collective == C::alltoallw || cell.collective == C::neighbor_alltoallw)
    in.sdispls = in.rdispls = {0, 2 * count * static_cast<int>(sizeof(int))};
  in.op = MPI_SUM;
  return in;
}

int make(const Invocation& in, Form form) {
  if (form == Form::blocking) return conformance::invoke(in, EntryPoint::interposed);
  conformance::Started started(in, form);
  return started.code() != MPI_SUCCESS || started.request() == MPI_REQUEST_NULL
             ? started.code()
             : started.complete(0);
}

MPI_Comm communicator_for(const Cell& cell) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int dims[] = {kRanks}, periods[] = {1};
  if (unisono::contains(unisono::kAmongAll, cell.collective))
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

void run(const Cell& cell, int rank, std::vector<char>& from, std::vector<char>& to) {
  const MPI_Comm comm = communicator_for(cell);
  const Invocation right = right_call(cell, comm, from.data(), to.data());
  const unsigned long long own = conformance::own_calls();
  for (int i = 0; i < 3; ++i) CHECK(make(right, cell.form) == MPI_SUCCESS);
  if (rank == 0) write_outcome(("own " + std::to_string(conformance::own_calls() - own)).c_str());
  // What a rank has room for.
  std::fill(to.begin(), to.end(), kUntouched);
  Invocation wrong = right;
  if (cell.on == On::both || static_cast<int>(cell.on) == rank) cell.wrong->spoil(wrong);
  alarm(kSeconds);
  g_calling = 1;
  const int code = make(wrong, cell.form);
  g_calling = 0;
  alarm(2 * kSeconds);  // the other rank's time is over first
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  char name[40];
  std::snprintf(name, sizeof name, "class %d", error_class);
  const auto used = to.begin() + static_cast<std::ptrdiff_t>(kBytes);
  const bool beyond = std::any_of(used, to.end(), [](char c) { return c != kUntouched; });
  write_outcome(beyond ? "writes beyond" : code == MPI_SUCCESS ? "succeeds" : name);
  // Nobody uses the communicator again; it may have messages left.
  PMPI_Barrier(MPI_COMM_WORLD);
  alarm(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Cell> all = cells();
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
    for (std::size_t i = 0; i < all.size(); ++i)
      std::printf("%zu %s%s\t%s\t%s\n", i, all[i].form == Form::nonblocking ? "i" : "",
                  unisono::name(all[i].collective).data(), all[i].wrong->what,
                  kOn[static_cast<int>(all[i].on)]);
    return 0;
  }
  if (argc < 3) return 1;
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  CHECK(conformance::size_of(MPI_COMM_WORLD) == kRanks);
  g_results = open((argv[1] + std::string(".") + std::to_string(rank)).c_str(),
                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(g_results >= 0);
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE})
    std::signal(signal, on_signal);
  // Open MPI 5.0.11 makes some of them errors of MPI_COMM_WORLD, or of MPI_COMM_SELF.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  conformance::force_all();
  std::vector<char> from(kBytes + kGuard), to(kBytes + kGuard);
  for (int i = 2; i < argc; ++i) {
    g_cell = std::stoi(argv[i]);
    run(all.at(static_cast<std::size_t>(g_cell)), rank, from, to);
  }
  write_outcome("end");
  MPI_Finalize();
  return 0;
}
