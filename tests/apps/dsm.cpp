// The distributed shared memory on all ranks of the job.
#include "apps/dsm/dsm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "apps/common/share.h"

namespace {

namespace dsm = apps::dsm;

int rank = 0, ranks = 1, failures = 0;

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  fmt::print(stderr, "WRONG: rank {}: {}\n", rank, what);
}

/// Ranks write words of the same pages in turn; a page of which nobody has the whole.
void false_sharing(dsm::Homes homes) {
  const std::size_t words = 3 * dsm::page_bytes() / 4;
  auto* shared = dsm::alloc<std::int32_t>(words);
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < words; ++i)
      if (static_cast<int>(i + static_cast<std::size_t>(round)) % ranks == rank)
        shared[i] = static_cast<std::int32_t>(i) * round;
    dsm::barrier();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words; ++i)
      wrong += shared[i] != static_cast<std::int32_t>(i) * round ? 1 : 0;
    expect(wrong == 0,
           fmt::format("homes {}: {} words in round {}", static_cast<int>(homes), wrong, round));
    dsm::barrier();
  }
}

/// Words that are written at random, by one rank each, often to what they were, on pages that some
/// ranks know and others do not; compared with a copy on which all ranks' writes are done.
void random_writes(dsm::Homes homes) {
  constexpr std::size_t kPages = 13;
  const std::size_t words = kPages * dsm::page_bytes() / 8;
  auto* shared = dsm::alloc<std::uint64_t>(words);
  std::vector<std::uint64_t> expected(words);
  std::mt19937_64 random(7);  // the same on all ranks
  for (int round = 0; round < 40; ++round) {
    const std::size_t writes = round % 4 == 0 ? 0 : random() % 400;
    for (std::size_t i = 0; i < writes; ++i) {
      const std::size_t at = random() % words;
      const auto writer = static_cast<int>((at * 31 + static_cast<std::size_t>(round)) %
                                           static_cast<std::size_t>(ranks));
      const std::uint64_t value = random() % 3;
      if (writer == rank) {
        shared[at] = 99;  // changed back at times: then it is no change
        shared[at] = value;
      }
      expected[at] = value;
    }
    dsm::barrier();
    // A rank looks at the pages of this round only.
    const std::size_t look = (random() + static_cast<std::size_t>(rank)) % kPages;
    const std::size_t page = dsm::page_bytes() / 8;
    expect(std::equal(shared + look * page, shared + (look + 1) * page,
                      expected.begin() + static_cast<std::ptrdiff_t>(look * page)),
           fmt::format("homes {}: page {} in round {}", static_cast<int>(homes), look, round));
    dsm::barrier();
  }
  expect(std::equal(shared, shared + words, expected.begin()), "everything at the end");
  dsm::barrier();
}

/// What a rank reads is no part of another's interval that is under way, where the other changes it
/// back.
void changed_back(dsm::Homes) {
  auto* shared = dsm::alloc<int>(2 * dsm::page_bytes() / sizeof(int));
  const std::size_t other = dsm::page_bytes() / sizeof(int);
  if (rank == 0) shared[0] = 1;
  if (rank == ranks - 1) shared[other] = 1;
  dsm::barrier();
  if (rank == 0) {
    shared[0] = 2;
    const int seen = shared[other];  // may be fetched: others get page 0 in the meantime
    shared[0] = seen;
  }
  volatile int seen = rank == 0 ? 0 : shared[0];
  static_cast<void>(seen);
  dsm::barrier();
  expect(shared[0] == 1, "a word that was changed and changed back");
  dsm::barrier();
}

/// Who gets a page when its home has come to the barrier already is on no list of it, and misses
/// nothing.
void late_reader(dsm::Homes) {
  auto* shared = dsm::alloc<int>(1);
  if (rank == 0) shared[0] = 1;
  dsm::barrier();
  if (rank == 0) shared[0] = 2;
  if (rank != 0) usleep(20000);
  volatile int seen = rank == 0 ? 0 : shared[0];
  static_cast<void>(seen);
  dsm::barrier();
  expect(shared[0] == 2, "a page that was read late");
  dsm::barrier();
}

/// A home that only calls serve() hands out its pages.
void served(dsm::Homes) {
  const std::size_t words = dsm::page_bytes() / sizeof(int);
  auto* shared = dsm::alloc<int>(words * static_cast<std::size_t>(ranks));
  shared[words * static_cast<std::size_t>(rank)] = rank + 1;
  dsm::barrier();
  int sum = 0;
  for (int r = 0; r < ranks && rank != 0; ++r) {
    sum += shared[words * static_cast<std::size_t>(r)];
    dsm::serve();
  }
  expect(rank == 0 || sum == ranks * (ranks + 1) / 2, "pages of homes that only serve");
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) dsm::serve();
  dsm::barrier();
}

void homes_are(dsm::Homes homes) {
  const std::size_t page = dsm::page_bytes();
  const auto count = static_cast<std::size_t>(2 * ranks + 1);
  auto* shared = dsm::alloc<char>(count * page);
  const auto of = [&](std::size_t i) { return dsm::home(shared + i * page); };
  if (homes == dsm::Homes::first_touch) {
    expect(of(0) == -1, "nobody's page");
    // Page i: by rank i / 2 and, but for the first, the one above.
    const auto own = static_cast<std::size_t>(2 * rank);
    shared[own * page] = shared[(own + 1) * page] = 'x';
    if (rank > 0) shared[(own - 2) * page + 4] = 'y';
    dsm::barrier();
    for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(ranks); ++i)
      expect(of(i) == static_cast<int>(i / 2), fmt::format("home {} of page {}", of(i), i));
    expect(of(count - 1) == -1, "a page that nobody has touched");
    if (ranks > 1) expect(shared[0] == 'x' && shared[4] == 'y', "the first words of two ranks");
  } else {
    for (int r = 0; r < ranks; ++r) {
      const apps::Range part = apps::share(count, ranks, r);
      for (std::size_t i = part.first; i < part.last; ++i)
        expect(of(i) == (homes == dsm::Homes::block ? r : static_cast<int>(i) % ranks),
               fmt::format("home {} of page {}", of(i), i));
    }
  }
  dsm::barrier();
}

/// The promise of the header: one Alltoallv where homes write, two elsewhere, none for nothing.
void exchanges(dsm::Homes homes) {
  const std::size_t words = dsm::page_bytes() / sizeof(int);
  auto* shared = dsm::alloc<int>(words * static_cast<std::size_t>(ranks));
  int* own = shared + words * static_cast<std::size_t>(rank);
  own[0] = 1;
  dsm::barrier();
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += shared[words * static_cast<std::size_t>(r)];
  expect(sum == ranks, "a word of every rank");
  dsm::barrier();
  const auto used = [&](auto&& write) {
    const std::size_t before = dsm::statistics().alltoallvs;
    write();
    dsm::barrier();
    return dsm::statistics().alltoallvs - before;
  };
  const std::size_t once = ranks > 1 ? 1 : 0;
  expect(used([] {}) == 0, "an Alltoallv for nothing");
  expect(used([&] { own[0] = own[0]; }) == 0, "an Alltoallv for what is as it was");
  expect(used([&] { ++own[0]; }) == once, fmt::format("homes {} write", static_cast<int>(homes)));
  int* next = shared + words * static_cast<std::size_t>((rank + 1) % ranks);
  expect(used([&] { ++next[1]; }) == (ranks > 2 ? 2 : once), "others write");
  // With two ranks nobody else has a copy of what a rank has sent to the home.
  dsm::barrier();
}

bool system_reads(const void* at, std::size_t bytes) {
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  const ssize_t written = write(ends[1], at, bytes);
  expect(written >= 0 || errno == EFAULT, "write");
  close(ends[0]);
  close(ends[1]);
  return written >= 0;
}

/// A page that is not here is EFAULT to a system call; prepared, it can be sent and received.
void buffers(dsm::Homes) {
  const std::size_t page = dsm::page_bytes(), words = 4 * page / sizeof(int);
  auto* shared = dsm::alloc<int>(words * static_cast<std::size_t>(ranks));
  int* own = shared + words * static_cast<std::size_t>(rank);
  for (std::size_t i = 0; i < words; ++i) own[i] = rank + 1;
  dsm::barrier();
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  int* of_right = shared + words * static_cast<std::size_t>(right);
  if (ranks > 1) {
    expect(!system_reads(of_right, page), "a page that is not here");
    dsm::fetch(of_right, words * sizeof(int));
    expect(system_reads(of_right, page), "a page that was fetched");
  }
  dsm::barrier();
  // Everyone gets its left neighbour's words straight into its own.
  std::vector<int> copy(own, own + words);
  dsm::prepare(own, words * sizeof(int));
  dsm::barrier();  // what was prepared may be read only, again
  dsm::prepare(own, words * sizeof(int));
  MPI_Sendrecv(copy.data(), static_cast<int>(words), MPI_INT, right, 0, own,
               static_cast<int>(words), MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  dsm::barrier();
  bool is_right = true;
  for (std::size_t i = 0; i < words; ++i) is_right = is_right && of_right[i] == rank + 1;
  expect(is_right, "what was received into shared memory, at another rank");
  dsm::barrier();
}

sigjmp_buf back;
void jump(int) { siglongjmp(back, 1); }

/// How a child ends that does this.
template <class Act>
int end_of(Act&& act) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// A fault elsewhere is the program's, whether it has a handler or not.
void faults_elsewhere() {
  auto* volatile nowhere = reinterpret_cast<volatile int*>(8);
  int* const end = dsm::alloc<int>(1) + dsm::page_bytes() / sizeof(int);  // behind all allocated
  volatile bool has_come = false;
  if (sigsetjmp(back, 1) == 0)
    *nowhere = 1;
  else
    has_come = true;
  expect(has_come, "the program's handler of SIGSEGV");
  has_come = false;
  if (sigsetjmp(back, 1) == 0)
    *static_cast<volatile int*>(end) = 1;
  else
    has_come = true;
  expect(has_come, "the program's handler, for shared memory that was not allocated");
}

void faults_are_fatal() {
  auto* volatile nowhere = reinterpret_cast<volatile int*>(8);
  const int status = end_of([&] { *nowhere = 1; });
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a SIGSEGV of the program's own");
}

void too_much() {
  bool has_thrown = false;
  try {
    dsm::alloc<char>(std::size_t{1} << 40);
  } catch (const std::length_error&) {
    has_thrown = true;
  }
  expect(has_thrown, "more than there is");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // `late`: a home that never answers, so that the others must say so.
  const bool is_late = argc > 1 && std::strcmp(argv[1], "late") == 0;
  for (const dsm::Homes homes :
       {dsm::Homes::block, dsm::Homes::round_robin, dsm::Homes::first_touch}) {
    dsm::init(MPI_COMM_WORLD, std::size_t{1} << 20, {homes, is_late ? 0.5 : 60});
    if (is_late) {
      volatile int* shared = dsm::alloc<int>(1);
      if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1) static_cast<void>(*shared);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (const auto part : {false_sharing, random_writes, changed_back, late_reader, served,
                            homes_are, exchanges, buffers})
      part(homes);
    too_much();
    dsm::finalize();
  }
  signal(SIGSEGV, SIG_DFL);  // MPI libraries may have handlers
  dsm::init(MPI_COMM_WORLD, 1 << 16);
  faults_are_fatal();
  dsm::finalize();
  signal(SIGSEGV, jump);
  dsm::init(MPI_COMM_WORLD, 1 << 20);
  faults_elsewhere();
  dsm::finalize();
  signal(SIGSEGV, SIG_DFL);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) fmt::print("{}\n", failures == 0 ? "passed" : "FAILED");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
