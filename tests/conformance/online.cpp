// A program whose collectives are selected online: results are checked, and after every round all
// ranks compare how many collectives they have run in Unisono. online_test.py sets the variables.
//
//   mpiexec -n P online [rounds [threads | late | same | elsewhere]]
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "check.h"

namespace {

constexpr int kInts = 600;

/// The same signature, described in another way on every other rank.
struct Described {
  MPI_Datatype type = MPI_INT;
  int count = kInts;

  explicit Described(bool derived) {
    if (!derived) return;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    count = kInts / 3;
  }
  ~Described() {
    if (type != MPI_INT) MPI_Type_free(&type);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
};

// Two call sites for one call.
[[gnu::noinline]] void sum_here(std::vector<double>& data, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_DOUBLE, MPI_SUM,
                comm);
}
[[gnu::noinline]] void sum_there(std::vector<double>& data, MPI_Comm comm) {
  const int count = static_cast<int>(data.size());
  MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_DOUBLE, MPI_SUM, comm);
}

void sums(MPI_Comm comm, int round, std::size_t count) {
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm);
  std::vector<double> data(count, me + round);
  (me % 2 == 0 ? sum_here : sum_there)(data, comm);
  const double expected = p * (p - 1) / 2.0 + p * round;
  CHECK(data.front() == expected && data.back() == expected);
}

void movement(MPI_Comm comm, int round) {
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm), root = round % p;
  const Described mine(me % 2 == 1);
  std::vector<int> data(kInts, me == root ? round : -1);
  MPI_Bcast(data.data(), mine.count, mine.type, root, comm);
  CHECK(data.front() == round && data.back() == round);

  const auto all = static_cast<std::size_t>(p) * kInts;
  std::vector<int> send(all), received(all, -1);
  for (std::size_t i = 0; i < all; ++i) send[i] = static_cast<int>(i) / kInts * 1000 + me;
  MPI_Alltoall(send.data(), mine.count, mine.type, received.data(), mine.count, mine.type, comm);
  for (std::size_t i = 0; i < all; ++i)
    CHECK(received[i] == me * 1000 + static_cast<int>(i) / kInts);

  std::fill(data.begin(), data.end(), me);
  MPI_Allgather(data.data(), mine.count, mine.type, received.data(), mine.count, mine.type, comm);
  for (std::size_t i = 0; i < all; ++i) CHECK(received[i] == static_cast<int>(i) / kInts);
}

/// All ranks have run the same calls themselves, and left the same.
void compare_counts() {
  const auto own = static_cast<long long>(conformance::own_calls());
  long long extremes[] = {own, -own};
  PMPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  CHECK(extremes[0] == -extremes[1]);
}

/// Rank 1 comes long after the others.
void late_rank(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (conformance::rank_in(MPI_COMM_WORLD) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    sums(MPI_COMM_WORLD, round, 3000);
  }
}

/// So many calls of a few kinds that it is worth asking which way is faster.
void same_kinds(int rounds) {
  constexpr int kBetweenLooks = 500;
  for (int round = 0; round < rounds; ++round) {
    movement(MPI_COMM_WORLD, round);
    if (round % kBetweenLooks == 0) compare_counts();
  }
}

/// After MPI_COMM_WORLD, whose ranks know by then which way is faster.
void same_kinds_elsewhere(int rounds) {
  MPI_Comm same, turned;
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -conformance::rank_in(MPI_COMM_WORLD), &turned);
  for (MPI_Comm comm : {same, turned}) {
    for (int round = 0; round < rounds; ++round) movement(comm, round);
    compare_counts();
    MPI_Comm_free(&comm);
  }
}

/// Freed while times are on their way, and not in the order in which they were made.
void short_lived(int rounds) {
  for (int calls = 1; calls <= rounds; calls += 5) {
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -conformance::rank_in(MPI_COMM_WORLD), &second);
    for (int i = 0; i < calls; ++i) {
      sums(first, i, 4);
      if (i % 2 == 0) sums(second, i, 1000);
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
  }
}

void in_two_threads(int rounds) {
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto work = [&](int thread) {
    for (int round = 0; round < rounds; ++round) sums(comms[thread], round, 30);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto asked = [&](const char* what) { return argc > 2 && std::strcmp(argv[2], what) == 0; };
  const bool threads = asked("threads");
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm kept;  // not freed before MPI_Finalize
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  if (asked("late")) late_rank(std::exchange(rounds, 0));
  if (asked("same")) same_kinds(std::exchange(rounds, 0));
  if (asked("elsewhere")) {
    same_kinds(rounds);
    same_kinds_elsewhere(std::exchange(rounds, 0) / 20);
  }
  for (int round = 0; round < rounds; ++round) {
    sums(MPI_COMM_WORLD, round, 3);
    sums(kept, round, 3000);
    movement(MPI_COMM_WORLD, round);
    MPI_Barrier(MPI_COMM_WORLD);
    compare_counts();
  }
  short_lived(rounds / 2);
  compare_counts();
  if (threads && provided == MPI_THREAD_MULTIPLE) in_two_threads(rounds);
  unsigned long long own = 0, native = 0;
  if (unisono_counts != nullptr) unisono_counts(&own, &native);
  MPI_Barrier(MPI_COMM_WORLD);
  if (conformance::rank_in(MPI_COMM_WORLD) == 0)
    std::printf("all right, own %llu native %llu\n", own, native);
  MPI_Finalize();
  return 0;
}
