#include "program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "completion.h"
#include "unisono_api.h"
#include "watch.h"
#include "wrong_call.h"

namespace conformance {

namespace {

constexpr long long kCallsPerEpoch = 100;  // then one communicator is replaced
// Names of streams.
constexpr std::uint64_t kLateness = 10, kBatches = 11, kKinds = 12, kThreads = 13, kForced = 14;

/// Which thread does it does not matter to MPI, if it is done in the order of the calls.
template <class Work>
void by_another_thread(const Work& work) {
  std::thread(work).join();
}

bool is_alone_on(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &size);
  return size == 1;
}

/// RANDOM_PROGRAM_SPOILS=17 or 17+23: a defect to be found, in the result of the last of these
/// calls, if the others came before.
std::vector<long long> spoilt_calls() {
  std::vector<long long> calls;
  if (const char* text = std::getenv("RANDOM_PROGRAM_SPOILS"))
    for (const char* at = text; at != nullptr; at = std::strchr(at, '+'))
      calls.push_back(std::atoll(*at == '+' ? ++at : at));
  return calls;
}

}  // namespace

/// A call that was started: a collective or messages.
struct Program::Pending {
  std::unique_ptr<Case> made;
  std::unique_ptr<Messages> messages;
  std::string text;
  bool is_under_way = true;
  std::thread waiter;  ///< completes it, if it is one

  std::vector<MPI_Request*> requests() {
    std::vector<MPI_Request*> all;
    if (made) all.push_back(&made->request());
    if (messages)
      for (MPI_Request& request : messages->requests()) all.push_back(&request);
    return all;
  }
};

Tallies::Tallies() {
  for (int c = 0; c < unisono::kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    of[key(collective, "")];
    for (const unisono::Algorithm& row : unisono::catalogue())
      if (unisono::contains(row.collectives, collective)) of[key(collective, row.name)];
  }
}

void Tallies::add(const Tallies& other) {
  for (const auto& [name, tally] : other.of) {
    of[name].calls += tally.calls;
    of[name].own += tally.own;
  }
  native_defects += other.native_defects;
  messages += other.messages;
  wrong += other.wrong;
  refused += other.refused;
  calls += other.calls;
}

Forced force_for(const Options& options, std::uint64_t seed) {
  Forced forced;
  Rng rng{seed, kForced};
  for (int c = 0; c < unisono::kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    Spec spec = random_spec(rng, collective);
    if (!options.spec.empty()) spec = spec_of(collective, options.spec);
    if (!options.transport.empty()) spec = over_transport(collective, spec, options.transport);
    if (options.simplified(-1).chosen) spec = {"default", nullptr, {}};
    if (has_unisono() && unisono_force(unisono::name(collective).data(), spec.text.c_str()) != 0)
      fail("unisono_force(" + spec.text + "): " + unisono_error());
    forced.specs[collective] = spec;
  }
  return forced;
}

Program::Program(const Options& options, std::uint64_t seed, int thread, MPI_Comm base,
                 const Forced* forced)
    : options_(options),
      seed_(seed + 1000003 * static_cast<std::uint64_t>(thread)),
      thread_(thread),
      forced_(forced),
      comms_((tell("seed " + std::to_string(seed) + ", communicator creation"), seed_), base,
             options.mixed),
      begin_(PMPI_Wtime()),
      has_messages_(comms_.size()),
      has_wild_(comms_.size()),
      prefix_("seed " + std::to_string(seed) + ", " +
              (forced != nullptr ? "thread " + std::to_string(thread) + ", " : "")) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank_ = static_cast<std::uint64_t>(rank);
  for (int c = 0; c < unisono::kCollectives; ++c)
    if (unisono::contains(unisono::kAmongAll, static_cast<Collective>(c)))
      drawn_.push_back(static_cast<Collective>(c));
}

void Program::run() {
  for (long long call = 0; call < options_.calls; ++call) {
    const auto number = static_cast<std::uint64_t>(call);
    if (call > 0 && call % kCallsPerEpoch == 0) {
      finish_started(number);
      tell(prefix_ + "communicator creation before call " + std::to_string(call));
      comms_.replace_one(static_cast<std::uint64_t>(call / kCallsPerEpoch));
    }
    if (forced_ == nullptr && call % 20 == 0 && options_.seconds > 0 && time_is_up()) break;
    if (call >= options_.from && (options_.only.empty() || options_.only.count(call) > 0)) {
      run_one(number);
      done_.push_back(call);
      ++tallies_.calls;
    }
    if (options_.mixed) test_some(number);
    // Alike on all ranks, though not all have all of them.
    if (Rng{seed_, number, kBatches}.chance(25)) finish_started(number);
  }
  finish_started(static_cast<std::uint64_t>(options_.calls));
}

bool Program::time_is_up() const {
  int up = PMPI_Wtime() - begin_ > static_cast<double>(options_.seconds);
  PMPI_Bcast(&up, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return up != 0;
}

/// Whether there is such a call.
bool Program::force(Collective collective, Spec& spec) const {
  if (forced_ != nullptr) {
    spec = forced_->specs.at(collective);
    return options_.spec.empty() || spec.algorithm != nullptr || spec.text == options_.spec;
  }
  if (!options_.spec.empty()) {
    spec = spec_of(collective, options_.spec);
    const bool special = spec.text == "native" || spec.text == "default";
    if (spec.algorithm == nullptr && !special) return false;
  }
  if (!options_.transport.empty()) spec = over_transport(collective, spec, options_.transport);
  return true;
}

void Program::run_one(std::uint64_t call) {
  Rng rng{seed_, call};
  const auto slot = static_cast<std::size_t>(rng.below(static_cast<long long>(comms_.size())));
  // MPI_COMM_SELF is soon explored.
  const std::size_t chosen = slot == 1 && rng.chance(70) ? 0 : slot;
  const Communicator& comm = comms_[chosen];
  tell(prefix_ + "call " + std::to_string(call));
  Rng kinds{seed_, call, kKinds};
  if (options_.mixed && kinds.chance(15)) return run_messages(call, chosen);
  // Error handlers are the communicators', and MPI_COMM_WORLD is every thread's.
  if (options_.mixed && kinds.chance(6) && forced_ == nullptr) return run_wrong(call, comm);
  Collective collective = rng.pick(drawn_);
  if (options_.mixed && comm.has_topology && kinds.chance(60))
    collective = static_cast<Collective>(static_cast<int>(Collective::neighbor_allgather) +
                                         static_cast<int>(kinds.below(5)));
  // Intel MPI's own (2021.19) confuse the two sides there, and are no reference.
  if (comm.folded && is_intel_mpi() && collective > Collective::neighbor_allgatherv)
    collective = Collective::neighbor_allgather;
  // MPICH 4.0.2 loses blocks, and on one rank the displacement.
  if (is_old_mpich() && collective == Collective::neighbor_alltoallw)
    collective = Collective::neighbor_alltoallv;
  if (is_old_mpich() && collective == Collective::allgatherv && is_alone_on(comm.handle))
    collective = Collective::allgather;
  Spec spec = random_spec(rng, collective);
  if (!force(collective, spec)) return;
  if (options_.simplified(static_cast<long long>(call)).chosen) spec = {"default", nullptr, {}};
  if (forced_ == nullptr && has_unisono() &&
      unisono_force(unisono::name(collective).data(), spec.text.c_str()) != 0)
    fail("unisono_force(" + spec.text + "): " + unisono_error());
  if (comm.handle != MPI_COMM_NULL) run_collective(call, collective, comm, spec);
}

void Program::run_collective(std::uint64_t call, Collective collective, const Communicator& comm,
                             const Spec& spec) {
  const Simplified simplified = options_.simplified(static_cast<long long>(call));
  auto made =
      std::make_unique<Case>(seed_, call, collective, comm, spec, options_.mixed, simplified);
  Case& one = *made;
  if (forced_ != nullptr) one.among_threads();
  // Alike on all ranks. The others make private duplicates.
  const bool starts =
      options_.nonblocking && call % 3 != 0 && one.is_startable() && !simplified.blocking;
  if (starts) {
    const bool again = Rng{seed_, call, kBatches, 1}.chance(30);
    const bool can = has_function(collective, Form::persistent, false, EntryPoint::interposed);
    one.set_form(again && can && !is_old_mpich() ? Form::persistent : Form::nonblocking);
  }
  const std::string text =
      prefix_ + "call " + std::to_string(call) + ", " + spec.text + ": " + one.text();
  tell(text);
  if (options_.verbose) std::fprintf(stderr, "%s\n", text.c_str());
  Rng rng{seed_, call, kLateness, rank_};
  // Somebody comes late: there are algorithms that look who is there.
  if (rng.chance(4)) usleep(500);
  if (is_spoilt(static_cast<long long>(call))) one.spoil();
  const unsigned long long before = own_calls();
  if (starts) {
    started_.push_back(std::make_unique<Pending>());
    started_.back()->made = std::move(made);
    started_.back()->text = text;
    start(*started_.back(), call);
  } else if (const auto wrong = one.run()) {
    fail(*wrong);
  }
  const unsigned long long own = own_calls() - before;
  if (!starts) see(one);

  const std::optional<bool> expected = one.own_expected();
  if (forced_ == nullptr && expected && *expected != (own > 0))
    fail(own > 0 ? "ran in Unisono, which cannot be asked for" : "did not run in Unisono");
  const std::string_view row = spec.algorithm ? spec.algorithm->name : std::string_view();
  for (const std::string_view name : {std::string_view(""), row}) {
    Tally& tally = tallies_.of[Tallies::key(one.collective(), name)];
    ++tally.calls;
    // Whose they are is not known where there are other threads.
    tally.own += forced_ == nullptr ? own : 0;
    if (!spec.algorithm || one.inter()) break;
  }
}

void Program::start(Pending& one, std::uint64_t call) {
  Rng rng{seed_, call, kThreads, rank_};
  if (forced_ == nullptr || rng.chance(50)) {
    one.made->start();
  } else {
    by_another_thread([&] { one.made->start(); });
  }
  // Completed while this thread makes other calls on the communicator.
  if (forced_ != nullptr && rng.chance(30))
    one.waiter = std::thread([&one, way = static_cast<int>(rng.below(3))] {
      tell(one.text);
      if (const auto wrong = one.made->complete(way)) fail(*wrong);
    });
}

void Program::run_messages(std::uint64_t call, std::size_t slot) {
  // Alike on all ranks, also on those that are not among the communicator's. Not on the same
  // communicator as receives that would take them.
  if (has_wild_[slot]) finish_started(call);
  const bool wild = !has_messages_[slot] && Rng{seed_, call, kKinds, 1}.chance(40);
  has_messages_[slot] = true;
  has_wild_[slot] = wild;
  const Communicator& comm = comms_[slot];
  if (comm.handle == MPI_COMM_NULL || comm.inter) return;
  auto messages = std::make_unique<Messages>(seed_, call, comm, wild,
                                             options_.simplified(static_cast<long long>(call)));
  const std::string text = prefix_ + "call " + std::to_string(call) + ": " + messages->text();
  tell(text);
  if (options_.verbose) std::fprintf(stderr, "%s\n", text.c_str());
  ++tallies_.messages;
  messages->start();
  if (messages->is_blocking()) {
    if (const auto wrong = messages->finish()) fail(*wrong);
    return;
  }
  started_.push_back(std::make_unique<Pending>());
  started_.back()->messages = std::move(messages);
  started_.back()->text = text;
}

void Program::run_wrong(std::uint64_t call, const Communicator& comm) {
  if (comm.handle == MPI_COMM_NULL) return;
  Rng rng{seed_, call, 30, static_cast<std::uint64_t>(comm.colour)};
  const WrongCall made =
      make_wrong_call(rng, comm, prefix_ + "call " + std::to_string(call) + ": ");
  if (made.text.empty()) return;
  ++tallies_.wrong;
  tallies_.refused += made.refused;
  if (options_.verbose)
    std::fprintf(stderr, "%scall %llu: %s%s\n", prefix_.c_str(),
                 static_cast<unsigned long long>(call), made.text.c_str(),
                 made.refused ? "" : ": natively no error");
  if (made.wrong) fail(*made.wrong);
}

void Program::finish_started(std::uint64_t call) {
  for (const auto& one : started_)
    if (one->waiter.joinable()) {
      tell(one->text);
      one->waiter.join();
      one->is_under_way = false;
    }
  complete_in_any_order(call, true);
  for (const auto& one : started_) one->is_under_way = one->made && one->made->start_again();
  complete_in_any_order(call, false);
  for (const auto& one : started_) {
    tell(one->text);
    if (const auto wrong = one->made ? one->made->finish() : one->messages->finish()) fail(*wrong);
    if (one->made) see(*one->made);
  }
  started_.clear();
  std::fill(has_messages_.begin(), has_messages_.end(), false);
  std::fill(has_wild_.begin(), has_wild_.end(), false);
}

/// In an order and a way of each rank's own.
void Program::complete_in_any_order(std::uint64_t call, bool first) {
  Rng rng{seed_, call, kBatches, rank_, first};
  std::vector<Pending*> all, order;
  for (const auto& one : started_)
    if (one->is_under_way) all.push_back(one.get());
  for (const int i : rng.permutation(static_cast<int>(all.size())))
    order.push_back(all[static_cast<std::size_t>(i)]);
  if (options_.mixed && complete_together(order, rng.below(2 * kWays))) return;
  for (Pending* one : order) {
    tell(one->text);
    if (one->made) {
      if (const auto wrong = one->made->complete(static_cast<int>(rng.below(3)))) fail(*wrong);
      continue;
    }
    for (MPI_Request& request : one->messages->requests()) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/// Whether there is such a way.
bool Program::complete_together(const std::vector<Pending*>& order, long long way) {
  if (way >= kWays) return false;
  std::vector<MPI_Request*> owners;
  bool library_persistent = false;
  std::string text = prefix_ + "completion in way " + std::to_string(way) + " of";
  for (Pending* one : order) {
    for (MPI_Request* request : one->requests()) owners.push_back(request);
    library_persistent = library_persistent || (one->made && one->made->handed_on() &&
                                                one->made->form() == Form::persistent);
    text += " [" + one->text + "]";
  }
#ifdef MPICH_VERSION
  // MPICH's own (5.0.2): while they are under way MPI_Testall fails with MPI_ERR_PENDING; when they
  // are over, MPI_Waitsome and MPI_Testsome tell of them again and again and of no others.
  if (library_persistent) way = kWait;
#endif
  tell(text);
  std::vector<MPI_Request> requests;
  for (const MPI_Request* owner : owners) requests.push_back(*owner);
  complete_all(requests, static_cast<int>(way));
  for (std::size_t i = 0; i < owners.size(); ++i) *owners[i] = requests[i];
  return true;
}

/// Some ranks look after some of what is under way, in the midst.
void Program::test_some(std::uint64_t call) {
  Rng rng{seed_, call, kBatches, rank_, 2};
  if (started_.empty() || !rng.chance(20)) return;
  Pending& one = *rng.pick(std::vector<Pending*>{started_.front().get(), started_.back().get()});
  if (one.waiter.joinable() || one.made == nullptr) return;
#ifdef MPICH_VERSION
  // MPICH's (5.0.2) makes a persistent request that is complete inactive, and then nobody tells of
  // it.
  if (one.made->form() == Form::persistent) return;
#endif
  int flag = 0;
  tell(one.text);
  MPI_Request_get_status(one.made->request(), &flag, MPI_STATUS_IGNORE);
}

void Program::see(const Case& one) {
  if (one.native_defect() && tallies_.native_defects++ == 0)
    std::fprintf(stderr, "random_program: %s: PMPI's result is wrong: %s\n", one.text().c_str(),
                 one.native_defect()->c_str());
}

bool Program::is_spoilt(long long call) const {
  const std::vector<long long> spoilt = spoilt_calls();
  if (spoilt.empty() || spoilt.back() != call) return false;
  return std::all_of(spoilt.begin(), spoilt.end() - 1, [&](long long before) {
    return std::find(done_.begin(), done_.end(), before) != done_.end();
  });
}

}  // namespace conformance
