// Jobs of which ranks are there, late, dead, pretended or called by strangers; and processes with
// odd variables of a launcher. presence_fuzz --seconds 4 --seed 1, or --count 20000.
#include <sched.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/base/made_up_job.h"
#include "tests/fuzz/fuzz.h"

/// Instead of the library's: looks follow each other without a pause.
extern "C" int usleep(useconds_t) { return sched_yield(); }

namespace unisono::fuzz {
namespace {

using presence::Attendance;
using presence::MadeUpJob;

constexpr std::array kTypes{SOCK_DGRAM, SOCK_STREAM, SOCK_SEQPACKET};
constexpr int kNameless = -1;

enum class Part { rank, nobody, pretended, usurped, dies, called };

Part part_of(Random& random) {
  constexpr std::array kParts{Part::rank,      Part::rank,    Part::rank, Part::nobody,
                              Part::pretended, Part::usurped, Part::dies, Part::called};
  const Part part = random.of(kParts);
  const bool needs_root = part == Part::pretended || part == Part::usurped;
  return needs_root && geteuid() != 0 ? Part::nobody : part;
}

/// Takes the name in some of the ways that there are, and admits few or many.
void take_as_stranger(MadeUpJob& job, int rank, Random& random) {
  const int callers = static_cast<int>(random.below(3)) * 100;
  const std::size_t only = random.below(2 * kTypes.size());
  job.start_stranger(presence::kStranger, [&] {
    for (std::size_t i = 0; i < kTypes.size(); ++i)
      if (only >= kTypes.size() || only == i)
        presence::take_name(job.name_of(rank), kTypes[i], callers);
  });
  if (!random.one_in(3)) return;
  for (std::size_t i = 0; i < 8; ++i)  // its queue may be full, of calls that are closed or not
    if (const int file = presence::call(job.name_of(rank), random.of(kTypes)); random.one_in(2))
      close(file);
}

/// A rank's queue is filled by this user's processes, which say things and leave.
void call_rank(MadeUpJob& job, int rank, Random& random) {
  for (std::size_t calls = random.below(200); calls > 0; --calls) {
    const int file = presence::call(job.name_of(rank), SOCK_SEQPACKET);
    if (random.one_in(2)) static_cast<void>(send(file, "unisono", 7, MSG_NOSIGNAL));
    close(file);
  }
}

void play(std::uint64_t input, Random& random, Counts& counts) {
  const int ranks = 2 + static_cast<int>(random.below(3));
  MadeUpJob job(ranks, "presence-fuzz-" + std::to_string(getppid()));
  std::vector<Part> parts;
  for (int rank = 0; rank < ranks; ++rank) parts.push_back(part_of(random));
  int there = 0, looking = 0;
  std::size_t started = 0;
  std::vector<std::size_t> dying;
  for (int rank = 0; rank < ranks; ++rank) {
    const Part part = parts[static_cast<std::size_t>(rank)];
    // A usurped rank finds its name taken; one that takes datagrams only takes another name.
    if (part == Part::usurped) {
      job.start_stranger(presence::kStranger, [&] {
        for (const int type : kTypes) presence::take_name(job.name_of(rank), type, 100);
      });
      ++started;
    }
    if (part == Part::pretended) take_as_stranger(job, rank, random), ++started;
    if (part == Part::dies) dying.push_back(started);
    if (part == Part::nobody || part == Part::pretended) continue;
    job.start_rank(rank);
    ++started;
    if (part == Part::called) call_rank(job, rank, random);
    if (part != Part::dies) ++looking;
    if (part == Part::rank || part == Part::called) ++there;
  }
  for (const std::size_t n : dying) job.end(n);
  const bool some_nameless = looking > 0 && random.one_in(8);
  if (some_nameless) job.start_rank(presence::kNoRank), ++looking;
  if (!some_nameless && geteuid() == 0 && random.one_in(8))
    take_as_stranger(job, kNameless, random);
  job.forget_dead(dying.size());
  int speakers = 0;
  const std::vector<Attendance> all = job.look();
  // Ranks that take part would wait for others that do not. One without a name does not look.
  const auto differs = [&all](const Attendance& seen) {
    return seen.ranks != all.front().ranks || seen.absent != all.front().absent;
  };
  counts.touched += !some_nameless && std::any_of(all.begin(), all.end(), differs) ? 1 : 0;
  for (const Attendance& seen : all) {
    const bool may_not_know = some_nameless && there < ranks;
    const bool is_right =
        may_not_know ? seen.ranks == 0 : seen.ranks == 0 || seen.absent == ranks - there;
    counts.touched += is_right ? 0 : 1;
    speakers += seen.ranks > 0 && seen.speaks ? 1 : 0;
  }
  counts.touched += speakers > 1 ? 1 : 0;
  counts.note(job.longest_look(), input);
}

/// Whatever a launcher, or a user, may have set.
void start_oddly(std::uint64_t input, Random& random, Counts& counts) {
  constexpr std::array kVariables{"PMIX_NAMESPACE",
                                  "PMIX_SERVER_URI41",
                                  "OMPI_COMM_WORLD_LOCAL_RANK",
                                  "OMPI_COMM_WORLD_LOCAL_SIZE",
                                  "PMI_FD",
                                  "PMI_SPAWNED",
                                  "MPI_LOCALRANKID",
                                  "MPI_LOCALNRANKS"};
  const std::array<std::string, 12> values{"",
                                           "0",
                                           "1",
                                           "2",
                                           "-1",
                                           "99999999999999999999",
                                           "16000",
                                           "2147483647",
                                           "1e9",
                                           "\x1b[2J%s%n",
                                           std::string(5000, 'x'),
                                           " 3"};
  for (const char* variable : kVariables)
    random.one_in(3) ? unsetenv(variable) : setenv(variable, random.of(values).c_str(), 1);
  const Captured captured;
  const double begin = processor_seconds();
  presence::withdraw();
  presence::announce();
  presence::admit();
  const Attendance seen = presence::look_around();
  presence::withdraw();
  const double spent = processor_seconds() - begin;
  for (const char* variable : kVariables) unsetenv(variable);
  counts.note(spent, input);
  counts.touched += seen.absent < 0 || seen.absent > seen.ranks ? 1 : 0;
  count_lines(captured.take(), 300, counts);
}

}  // namespace
}  // namespace unisono::fuzz

int main(int argc, char** argv) {
  using namespace unisono::fuzz;
  const Options options = options_of(argc, argv);
  // Other jobs, and other runs of this program, show their names elsewhere then; as root only.
  static_cast<void>(unshare(CLONE_NEWNET));
  return run(
      options,
      [&](std::uint64_t input, Counts& counts) {
        Random random(options.seed, input);
        random.one_in(4) ? start_oddly(input, random, counts) : play(input, random, counts);
      },
      "wrong answers");
}
