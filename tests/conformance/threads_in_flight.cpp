// MPI_THREAD_MULTIPLE: several threads with nonblocking and persistent collectives on one
// communicator. MPI wants nonblocking ones begun in one order on all ranks, so the threads begin
// them in turn; they complete them as they like, and start persistent ones in any order.
//
//   mpiexec -n P threads_in_flight [rounds]
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "all_kinds.h"

namespace {

using conformance::complete;
using conformance::Ints;
using conformance::rank_in;
using conformance::size_of;

constexpr int kThreads = 3, kInFlight = 5, kInts = 3000;

/// The threads of this process, one after the other.
class Turns {
 public:
  void take(int thread, const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    passed_.wait(lock, [&] { return next_ == thread; });
    work();
    next_ = (next_ + 1) % kThreads;
    passed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable passed_;
  int next_ = 0;
};

/// Of one thread: each call's numbers are its own.
struct Calls {
  std::vector<Ints> in, out;
  std::vector<MPI_Request> requests = std::vector<MPI_Request>(kInFlight, MPI_REQUEST_NULL);
  int salt = 0;

  Calls() : in(kInFlight, Ints(kInts)), out(kInFlight, Ints(kInts)) {}
  void fill(int rank, int from) {
    salt = from;
    for (int i = 0; i < kInFlight; ++i) {
      const auto n = static_cast<std::size_t>(i);
      std::iota(in[n].begin(), in[n].end(), from + i + rank);  // requests know where they are
      out[n].assign(kInts, -1);
    }
  }
  void see(int ranks) const {
    for (int i = 0; i < kInFlight; ++i)
      for (const int k : {0, kInts - 1})
        CHECK(out[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] ==
              ranks * (salt + i + k) + ranks * (ranks - 1) / 2);
  }
};

void nonblocking(MPI_Comm comm, Turns& turns, int thread, int rounds) {
  const int me = rank_in(comm), p = size_of(comm);
  Calls calls;
  for (int round = 0; round < rounds; ++round) {
    calls.fill(me, 1000 * thread + round);
    for (std::size_t i = 0; i < kInFlight; ++i)
      turns.take(thread, [&] {
        MPI_Iallreduce(calls.in[i].data(), calls.out[i].data(), kInts, MPI_INT, MPI_SUM, comm,
                       &calls.requests[i]);
      });
    complete(calls.requests, (me + thread + round) % 8);
    calls.see(p);
  }
}

/// Made in one order, started at any time.
void persistent(MPI_Comm comm, Turns& turns, int thread, int rounds) {
  const int me = rank_in(comm), p = size_of(comm);
  Calls calls;
  for (std::size_t i = 0; i < kInFlight; ++i)
    turns.take(thread, [&] {
      MPI_Allreduce_init(calls.in[i].data(), calls.out[i].data(), kInts, MPI_INT, MPI_SUM, comm,
                         MPI_INFO_NULL, &calls.requests[i]);
    });
  for (int round = 0; round < rounds; ++round) {
    calls.fill(me, 1000 * thread + round);
    if (round % 2 == me % 2)
      MPI_Startall(kInFlight, calls.requests.data());
    else
      for (std::size_t i = kInFlight; i-- > 0;) MPI_Start(&calls.requests[i]);
    complete(calls.requests, (me + thread + round) % 8, true);
    calls.see(p);
  }
  for (MPI_Request& request : calls.requests) MPI_Request_free(&request);
}

template <class Work>
void in_threads(MPI_Comm comm, int rounds, const Work& work) {
  Turns turns;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] { work(comm, turns, thread, rounds); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 16;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  conformance::force("allreduce", "ring");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads(comm, rounds, persistent);  // makes the duplicate
  const unsigned long long before = conformance::own_calls();
  in_threads(comm, rounds, nonblocking);
  const auto calls = static_cast<unsigned long long>(kThreads) * kInFlight;
  if (conformance::has_unisono())
    CHECK(conformance::own_calls() - before == calls * static_cast<unsigned long long>(rounds));
  MPI_Comm_free(&comm);
  conformance::passed("threads_in_flight", calls, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
