#include "runtime/tracer.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/config.h"
#include "base/hash.h"
#include "base/say.h"
#include "comm/placement.h"
#include "mpi/comm.h"
#include "mpi/threads.h"
#include "runtime/call_time.h"
#include "runtime/clocks.h"
#include "runtime/traced_call.h"
#include "select/spec.h"

namespace unisono {

constinit Tracer* g_tracer = nullptr;

namespace {

std::string file_of(const std::string& folder, int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d", rank);
  return folder + name;
}

/// What keeps this rank from tracing into the folder; empty: nothing that is seen from outside.
std::string problem_of(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return "no such folder: make it first, on every node";
  if (!fs::is_directory(status)) return "it is no folder";
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (entries->path().filename().string().starts_with("rank-"))
      return "it holds a trace already: name an empty folder";
  if (error) return error.message();
  return access(folder.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

/// Whether no rank has a problem; the first one that has speaks for all.
bool all_well(const std::string& problem) {
  const int rank = rank_in(MPI_COMM_WORLD);
  int first = INT_MAX;
  const int mine = problem.empty() ? INT_MAX : rank;
  PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == rank) say(setting("UNISONO_TRACE") + ": " + problem + "; nothing is traced");
  return first == INT_MAX;
}

/// The ranks of an inter-communicator are those of both groups, in the order that both sides find:
/// the group of the least rank goes first.
std::vector<int> all_world_ranks(MPI_Comm comm, bool inter) {
  std::vector<int> ranks = members_in_world(comm);
  if (!inter || ranks.empty()) return ranks;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_remote_group(comm, &group);
  std::vector<int> others = ranks_in_world(group);
  PMPI_Group_free(&group);
  if (others.empty()) return {};
  if (*std::min_element(others.begin(), others.end()) <
      *std::min_element(ranks.begin(), ranks.end()))
    ranks.swap(others);
  ranks.insert(ranks.end(), others.begin(), others.end());
  return ranks;
}

/// This thread's number, from 0 on; where threads call one at a time, they count as one.
std::uint32_t thread_number() {
  static constinit std::atomic<std::uint32_t> threads{0};
  thread_local const std::uint32_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void leave_the_files_to_the_parent() {
  Tracer* tracer = std::exchange(g_tracer, nullptr);
  if (tracer != nullptr) tracer->abandon();
}

}  // namespace

std::unique_ptr<Tracer> Tracer::start(const std::string& folder, MPI_Comm node) {
  // Nobody makes a file before all have looked.
  if (!all_well(problem_of(folder))) return nullptr;
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  std::unique_ptr<Tracer> tracer(new Tracer(folder));
  std::string problem;
  const bool created = tracer->create(rank, problem);
  if (!all_well(problem)) {
    tracer->abandon();
    if (created)
      for (const char* ending : {".events", ".jsonl"})
        unlink((file_of(folder, rank) + ending).c_str());
    return nullptr;
  }
  tracer->lines_->start({rank, size, library_line()});
  tracer->lines_->modules(tracer->modules_ = trace::executable_mappings());
  PMPI_Comm_dup(MPI_COMM_WORLD, &tracer->comm_);
  tracer->nodes_ = nodes_of_ranks(MPI_COMM_WORLD, node);
  tracer->lines_->clock(clock_offset(tracer->comm_, tracer->nodes_));
  wait_quietly_for_all(tracer->comm_);
  static const int registered = pthread_atfork(nullptr, nullptr, leave_the_files_to_the_parent);
  static_cast<void>(registered);
  return tracer;
}

Tracer::~Tracer() = default;

bool Tracer::create(int rank, std::string& problem) {
  const std::string name = file_of(folder_, rank);
  auto events = trace::EventFile::create(name + ".events");
  if (!events) {
    problem = events.error();
    return false;
  }
  events_ = std::move(*events);
  auto lines = trace::LineFile::create(name + ".jsonl");
  if (!lines) {
    problem = lines.error();
    unlink((name + ".events").c_str());
    return false;
  }
  lines_ = std::move(*lines);
  return true;
}

void Tracer::stop() {
  lines_->clock(clock_offset(comm_, nodes_));
  unsigned long long most = most_bytes_;
  PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm_);
  for (const OneWay& time : one_way_times(comm_, nodes_, most))
    lines_->one_way(time.bytes, time.seconds);
  wait_quietly_for_all(comm_);
  PMPI_Comm_free(&comm_);
  if (!lines_->problem().empty()) complain(lines_->problem());
  lines_->end(events_->events(), events_->lost(), call_time());
  lines_->close();
  events_->close();
}

void Tracer::abandon() {
  if (events_) events_->abandon();
  if (lines_) lines_->close();
}

std::uint64_t Tracer::enter(const Call& call, Communicator& communicator, const void* site,
                            std::int64_t& begin_ns) {
  TracedCommunicator& traced = communicator.traced();
  const Locked locked(mutex_);
  if (traced.id == TracedCommunicator::kNew) introduce(call.comm, traced);
  const std::uint32_t sequence = traced.calls++;
  trace::Event* event = events_->append();
  if (event == nullptr) {
    if (!complained_) complain(events_->problem());
    return kNone;
  }
  const std::uint64_t number = events_->events() - 1;
  describe(call, communicator.rank(), traced, *event);
  event->communicator = traced.id;
  event->sequence = sequence;
  event->site = reinterpret_cast<std::uint64_t>(site);
  event->program = frames_.above(event->site, __builtin_frame_address(0));
  event->thread = several_threads() ? thread_number() : 0;
  most_bytes_ = std::max(most_bytes_, event->bytes);
  std::uint64_t& seen = seen_[event->site / 4 % seen_.size()];
  if (seen != event->site) see(seen = event->site);
  begin_ns = event->begin_ns = call_time();
  return number;
}

void Tracer::chosen(std::uint64_t event, const Choice& choice) {
  const Locked locked(mutex_);
  events_->set_algorithm(event, number_of(choice));
}

void Tracer::introduce(MPI_Comm comm, TracedCommunicator& traced) {
  int inter = 0, length = 0;
  PMPI_Comm_test_inter(comm, &inter);
  (inter != 0 ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &traced.others);
  traced.inter = inter != 0;
  traced.neighbours = neighbours_in(comm);
  const std::vector<int> ranks = all_world_ranks(comm, traced.inter);
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  PMPI_Comm_get_name(comm, name.data(), &length);
  const std::string_view bytes(reinterpret_cast<const char*>(ranks.data()),
                               ranks.size() * sizeof(int));
  traced.id = communicators_++;
  const int size = traced.others + (traced.inter ? size_of(comm) : 0);
  lines_->communicator({traced.id, size, ranks, occurrences_[fnv1a(bytes)]++,
                        std::string_view(name.data(), static_cast<std::size_t>(length))});
}

// A library that was opened since the last look is in none of the modules.
void Tracer::see(std::uint64_t site) {
  if (covers(modules_, site)) return;
  trace::Modules now = trace::executable_mappings();
  if (now == modules_) return;
  modules_ = std::move(now);
  lines_->modules(modules_);
}

std::uint16_t Tracer::number_of(const Choice& choice) {
  if (choice.algorithm == nullptr) return 0;
  const auto same = [&choice](const Arm& arm) {
    return arm.algorithm == choice.algorithm && arm.params == choice.params;
  };
  const auto known = std::find_if(arms_.begin(), arms_.end(), same);
  const auto number = static_cast<std::uint16_t>(known - arms_.begin() + 1);
  if (known != arms_.end()) return number;
  arms_.push_back({choice.algorithm, choice.params});
  lines_->algorithm(number, text(Spec{choice.algorithm, false, choice.params}));
  return number;
}

void Tracer::complain(const std::string& problem) {
  complained_ = true;
  say(setting("UNISONO_TRACE") + ": " + problem + "; the trace is cut short");
}

}  // namespace unisono
