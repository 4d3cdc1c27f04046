// Small programs, each about one way in which decisions come about. Which way their calls go is
// kept in tests/golden/routes-FLAVOUR.txt (golden.py).
//
//   mpiexec -n P golden_programs NAME
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "recorder.h"
#include "unisono/unisono.h"

namespace golden {
namespace {

constexpr int kMostBytes = 1 << 20;

/// Room for the calls of all programs: what they send and what they get.
struct Buffers {
  std::vector<double> in, out;
  Buffers() : in(std::size_t{2} * kMostBytes / sizeof(double), 1.0), out(in.size()) {}
};

Buffers& buffers() {
  static Buffers all;
  return all;
}

void allreduce(MPI_Comm comm, int count, MPI_Datatype type = MPI_INT, MPI_Op op = MPI_SUM) {
  MPI_Allreduce(buffers().in.data(), buffers().out.data(), count, type, op, comm);
}
void bcast(MPI_Comm comm, int bytes, int root = 0) {
  MPI_Bcast(buffers().in.data(), bytes, MPI_BYTE, root, comm);
}
void alltoall(MPI_Comm comm, int bytes) {
  MPI_Alltoall(buffers().in.data(), bytes, MPI_BYTE, buffers().out.data(), bytes, MPI_BYTE, comm);
}
void allgather(MPI_Comm comm, int bytes) {
  MPI_Allgather(buffers().in.data(), bytes, MPI_BYTE, buffers().out.data(), bytes, MPI_BYTE, comm);
}
void alltoallv(MPI_Comm comm, int bytes) {
  const auto size = static_cast<std::size_t>(size_of(comm));
  const std::vector<int> counts(size, bytes);
  std::vector<int> displs(size);
  for (std::size_t k = 1; k < size; ++k) displs[k] = displs[k - 1] + bytes;
  MPI_Alltoallv(buffers().in.data(), counts.data(), displs.data(), MPI_BYTE, buffers().out.data(),
                counts.data(), displs.data(), MPI_BYTE, comm);
}
void gatherv(MPI_Comm comm, int bytes) {
  const auto size = static_cast<std::size_t>(size_of(comm));
  const std::vector<int> counts(size, bytes);
  std::vector<int> displs(size);
  for (std::size_t k = 1; k < size; ++k) displs[k] = displs[k - 1] + bytes;
  MPI_Gatherv(buffers().in.data(), bytes, MPI_BYTE, buffers().out.data(), counts.data(),
              displs.data(), MPI_BYTE, 0, comm);
}

MPI_Comm duplicate() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

/// Calls of many kinds on the world, short and long.
void kinds(Recorder& record) {
  const MPI_Comm world = MPI_COMM_WORLD;
  for (const int bytes : {8, 512, 8 << 10, 128 << 10}) {
    const std::string of = " of " + std::to_string(bytes);
    record.step("allreduce" + of, 20, [=] { allreduce(world, bytes / 4); });
    record.step("bcast" + of, 20, [=] { bcast(world, bytes); });
    record.step("bcast from the last" + of, 20, [=] { bcast(world, bytes, size_of(world) - 1); });
    record.step("allgather" + of, 20, [=] { allgather(world, bytes); });
    record.step("alltoall" + of, 20, [=] { alltoall(world, bytes); });
    record.step("alltoallv" + of, 20, [=] { alltoallv(world, bytes); });
    record.step("gatherv" + of, 20, [=] { gatherv(world, bytes); });
  }
  record.step("barrier", 40, [=] { MPI_Barrier(world); });
}

/// Communicators that live for a few calls, and one that lives longer.
void young(Recorder& record) {
  for (const int calls : {1, 3, 5, 40}) {
    MPI_Comm comm = duplicate();
    record.step("allreduce of " + std::to_string(calls), calls, [=] { allreduce(comm, 2); });
    record.step("free", 1, [&] { MPI_Comm_free(&comm); });
  }
  MPI_Comm comm = duplicate();
  record.step("a long bcast first", 1, [=] { bcast(comm, kMostBytes); });
  record.step("then short ones", 40, [=] { bcast(comm, 8); });
  MPI_Comm_free(&comm);
}

/// Sums whose bits depend on the order, and others, on a new communicator.
void sums(Recorder& record) {
  for (const auto& [name, type, op] : {std::tuple("double", MPI_DOUBLE, MPI_SUM),
                                       {"int", MPI_INT, MPI_SUM},
                                       {"greatest double", MPI_DOUBLE, MPI_MAX}}) {
    MPI_Comm comm = duplicate();
    for (const int count : {1, 1 << 10, 1 << 15})
      record.step(name + (" of " + std::to_string(count)), 20,
                  [=, type = type, op = op] { allreduce(comm, count, type, op); });
    MPI_Comm_free(&comm);
  }
}

void keep_first(void*, void*, int*, MPI_Datatype*) {}

/// Operations of the program, commutative and not.
void operations(Recorder& record) {
  for (const int commutes : {0, 1}) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(keep_first, commutes, &op);
    const std::string name = commutes != 0 ? "commutes" : "does not commute";
    record.step(name, 20, [=] { allreduce(MPI_COMM_WORLD, 2, MPI_INT, op); });
    record.step(name + ", long", 20, [=] { allreduce(MPI_COMM_WORLD, 1 << 14, MPI_INT, op); });
    MPI_Op_free(&op);
  }
}

/// What is forced changes while the program runs.
void forcing(Recorder& record) {
  const auto calls = [&](const std::string& name) {
    record.step(name + ", bcast", 5, [] { bcast(MPI_COMM_WORLD, 1 << 10); });
    record.step(name + ", allreduce", 5, [] { allreduce(MPI_COMM_WORLD, 256); });
  };
  for (const char* spec : {"default", "binomial", "native", "shm", "chain:segment=4K", "default"}) {
    unisono_force("bcast", spec);
    calls(spec);
  }
  MPI_Comm comm = duplicate();
  unisono_force("allreduce", "ring");
  record.step("on a new communicator", 5, [=] { allreduce(comm, 256); });
  unisono_force("allreduce", "default");
  record.step("and no more", 5, [=] { allreduce(comm, 256); });
  MPI_Comm_free(&comm);
}

/// Calls that do not block, before and after one that does.
void nonblocking(Recorder& record) {
  MPI_Comm comm = duplicate();
  const auto start = [=] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(buffers().in.data(), buffers().out.data(), 64, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  const auto start_bcast = [=] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(buffers().in.data(), 64 << 10, MPI_BYTE, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  record.step("iallreduce", 5, start);
  record.step("ibcast", 5, start_bcast);
  record.step("barrier", 1, [=] { MPI_Barrier(comm); });
  record.step("iallreduce after it", 5, start);
  record.step("ibcast after it", 5, start_bcast);
  record.step("allreduce", 5, [=] { allreduce(comm, 64); });
  record.step("iallreduce after that", 5, start);
  MPI_Comm_free(&comm);
}

#if MPI_VERSION >= 4 || defined(OPEN_MPI)
/// Persistent calls; hints that all ranks give, and that one of them gives.
void persistent(Recorder& record) {
  const auto init = [](const char* algorithm) {
    MPI_Info hints = MPI_INFO_NULL;
    if (algorithm != nullptr) {
      MPI_Info_create(&hints);
      MPI_Info_set(hints, "unisono_algorithm", algorithm);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Allreduce_init(buffers().in.data(), buffers().out.data(), 64, MPI_INT, MPI_SUM,
                       MPI_COMM_WORLD, hints, &request);
    for (int k = 0; k < 3; ++k) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  };
  record.step("without hints", 3, [=] { init(nullptr); });
  record.step("by a hint", 3, [=] { init("ring"); });
  record.step("by a hint that names nothing", 3, [=] { init("rings"); });
  record.step("by one rank's hint", 3,
              [=] { init(rank_in(MPI_COMM_WORLD) == 0 ? "ring" : nullptr); });
}
#endif

/// Datatypes with gaps, and blocks of two lengths on one rank.
void datatypes(Recorder& record) {
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(8, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  record.step("bcast with gaps", 20,
              [=] { MPI_Bcast(buffers().in.data(), 4, gaps, 0, MPI_COMM_WORLD); });
  record.step("bcast without", 20, [] { bcast(MPI_COMM_WORLD, 128); });
  record.step("bcast with gaps again", 20,
              [=] { MPI_Bcast(buffers().in.data(), 4, gaps, 0, MPI_COMM_WORLD); });
  MPI_Type_free(&gaps);
}

/// A wrong argument of all ranks, which the MPI library refuses.
void refused(Recorder& record) {
  MPI_Comm comm = duplicate();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  record.step("before", 40, [=] { bcast(comm, 8); });
  record.step("a root that all name wrong", 1,
              [=] { MPI_Bcast(buffers().in.data(), 8, MPI_BYTE, size_of(comm), comm); });
  record.step("after", 20, [=] { bcast(comm, 8); });
  MPI_Comm_free(&comm);
}

/// Between two groups, on one rank, and among all but one.
void groups(Recorder& record) {
  MPI_Comm part = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
  record.step("allreduce of a half", 40, [=] { allreduce(part, 2); });
  record.step("allreduce between halves", 5, [=] { allreduce(between, 2); });
  record.step("allreduce of oneself", 5, [] { allreduce(MPI_COMM_SELF, 2); });
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
}

/// Among neighbours of a ring.
void neighbours(Recorder& record) {
  MPI_Comm ring = MPI_COMM_NULL;
  const int size = size_of(MPI_COMM_WORLD), periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (const int bytes : {8, 64 << 10})
    record.step("neighbor_alltoall of " + std::to_string(bytes), 10, [=] {
      MPI_Neighbor_alltoall(buffers().in.data(), bytes, MPI_BYTE, buffers().out.data(), bytes,
                            MPI_BYTE, ring);
    });
  record.step("allreduce there", 10, [=] { allreduce(ring, 2); });
  MPI_Comm_free(&ring);
}

/// Counts that repeat, change, and are said by the program.
void orders(Recorder& record) {
  MPI_Comm comm = duplicate();
  record.step("counts repeat", 20, [=] { alltoallv(comm, 256); });
  record.step("they change", 5, [=] { alltoallv(comm, 512); });
  const auto size = static_cast<std::size_t>(size_of(comm));
  const std::vector<long long> counts(size * size, 128);
  unisono_know_counts(comm, "alltoallv", counts.data());
  record.step("they are said", 5, [=] { alltoallv(comm, 128); });
  unisono_forget_schedule(comm, "alltoallv");
  record.step("and no more", 5, [=] { alltoallv(comm, 128); });
  MPI_Comm_free(&comm);
}

/// Many lengths in turn, so that each kind has few calls.
void lengths(Recorder& record) {
  for (int round = 0; round < 30; ++round)
    for (int bytes = 4; bytes <= 64 << 10; bytes *= 4)
      record.step("rounds of all lengths", 1, [=] { bcast(MPI_COMM_WORLD, bytes + round); });
}

/// Two communicators of the same ranks in turn.
void twins(Recorder& record) {
  MPI_Comm one = duplicate(), other = duplicate();
  for (int round = 0; round < 100; ++round) {
    record.step("in turn", 1, [=] { allreduce(one, 256); });
    record.step("in turn", 1, [=] { allreduce(other, 256); });
  }
  MPI_Comm_free(&one);
  record.step("when one is freed", 20, [=] { allreduce(other, 256); });
  MPI_Comm_free(&other);
}

using Program = void (*)(Recorder&);
const std::map<std::string, Program> kPrograms = {
    {"kinds", kinds},           {"young", young},     {"sums", sums},
    {"operations", operations}, {"forcing", forcing}, {"nonblocking", nonblocking},
    {"datatypes", datatypes},   {"refused", refused}, {"groups", groups},
    {"neighbours", neighbours}, {"orders", orders},   {"lengths", lengths},
    {"twins", twins},
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
    {"persistent", persistent},
#endif
};

}  // namespace
}  // namespace golden

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto found = golden::kPrograms.find(argc > 1 ? argv[1] : "");
  if (found == golden::kPrograms.end()) {
    std::fprintf(stderr, "golden_programs: no such program\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  golden::Recorder record;
  found->second(record);
  record.write();
  MPI_Finalize();
  return 0;
}
