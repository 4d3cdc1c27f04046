// Replays recorded jobs: what would a policy have made of them? Reads jobs as JSON from its input
// (tests/gym/README.md), and writes a line of JSON for each.
//
//   unisono_gym < JOBS.json
//
// A recorded job ran both ways in random turns. A way's first call gets the times of its first
// recorded one; a call after one of the same way those of the recorded call that came next there;
// where the record goes on with the other way, and after calls of it, those of a random one at
// about the same place in the job that came in the same way. So what comes in a row, as of ranks
// that run ahead until they have to wait, stays in a row, and each recorded call has the same
// weight.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "select/facts.h"
#include "select/online/check.h"
#include "select/online/duel.h"
#include "select/online/settings.h"
#include "select/online/star.h"
#include "select/selector.h"
#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

constexpr int kSeeds = 3;
constexpr long kCalls = 4096;
constexpr long kNear = 32;  // recorded calls to draw from

struct Job {
  Facts facts;
  bool shares_cores = false;
  int leader = 0;  // what stands first
  std::vector<int> arms;
  std::vector<CallTimes> times;
  long exchange = 0;  // after so many calls the ranks combined numbers; 0: never
};

/// What stands first there: 1, unless the MPI library's own does.
int leader_of(const Job& job, const std::string& flavour) {
  const Place place = job.facts.nodes > 1 ? Place::ethernet
                      : job.shares_cores  ? Place::oversubscribed
                                          : Place::undersubscribed;
  Selector selector(flavour, place);
  selector.lead_safely();
  // Of several ranks on a host: as of one, which needs no topology to be made up.
  Facts facts = job.facts;
  if (facts.nodes > 1) facts.size = facts.nodes;
  return selector.choose(facts).algorithm == nullptr ? 0 : 1;
}

Job job_from(const nlohmann::json& json) {
  Job job;
  job.facts.collective = *collective_named(json.at("collective").get<std::string>());
  job.facts.size = json.at("ranks");
  job.facts.nodes = json.at("nodes");
  job.facts.bytes = json.at("bytes");
  job.facts.shared = job.facts.nodes == 1;
  job.shares_cores = json.at("shares_cores");
  job.exchange = json.value("exchange", 0);
  job.leader = leader_of(job, json.at("mpi").get<std::string>());
  for (const auto& call : json.at("calls")) {
    job.arms.push_back(call.at(0));
    CallTimes took{{}, call.at(1).get<double>() * 1e-9};
    for (std::size_t i = 2; i < call.size(); ++i)
      took.own.push_back(call.at(i).get<double>() * 1e-9);
    job.times.push_back(std::move(took));
  }
  return job;
}

/// The recorded calls, to be drawn from.
class Tape {
 public:
  Tape(const Job& job, unsigned seed)
      : job_(job), length_(static_cast<long>(job.arms.size())), random_(seed) {
    // The last one has in it that the job ends.
    for (long i = 0; i < length_ - 1; ++i) {
      if (first_[arm(i)] < 0) first_[arm(i)] = i;
      if (i > 0) calls_[arm(i)][how(i)].push_back(i);
    }
  }

  /// `exchanged`: just before, the ranks have combined numbers.
  const CallTimes& take(int arm, bool exchanged) {
    at_ = place(arm, exchanged);
    ++taken_;
    return job_.times[static_cast<std::size_t>(at_)];
  }

 private:
  enum How : std::size_t { after_the_same, after_the_other, after_an_exchange };

  int arm(long call) const { return job_.arms[static_cast<std::size_t>(call)]; }
  How how(long call) const {
    if (job_.exchange > 0 && call % job_.exchange == 0) return after_an_exchange;
    return arm(call) == arm(call - 1) ? after_the_same : after_the_other;
  }

  long place(int arm, bool exchanged) {
    if (first_[arm] >= 0) return std::exchange(first_[arm], -1);
    const bool is_same = at_ >= 0 && this->arm(at_) == arm;
    const How how = exchanged ? after_an_exchange : is_same ? after_the_same : after_the_other;
    const long next = at_ + 1;
    const bool goes_on = next < length_ - 1 && this->arm(next) == arm && this->how(next) == how;
    if (how == after_the_same && goes_on) return next;
    const auto& alike = calls_[arm][how];
    return drawn(alike.empty() ? calls_[arm][after_the_same] : alike);
  }

  /// Of the nearest; after the end of the recorded job, of its last two thirds.
  long drawn(const std::vector<long>& calls) {
    const auto place = [&](long call) {
      return std::lower_bound(calls.begin(), calls.end() - 1, call) - calls.begin();
    };
    const long number = std::ssize(calls);
    long least = place(length_ / 3), most = number;
    if (taken_ < length_) {
      least = std::clamp(place(taken_) - kNear / 2, 0L, std::max(0L, number - kNear));
      most = std::min(number, least + kNear);
    }
    return calls[static_cast<std::size_t>(
        std::uniform_int_distribution<long>(least, most - 1)(random_))];
  }

  const Job& job_;
  const long length_;
  std::mt19937_64 random_;
  long first_[2] = {-1, -1};
  std::vector<long> calls_[2][3];  // by arm, and how they came
  long at_ = -1, taken_ = 0;
};

std::unique_ptr<Policy> ours(const Job& job) {
  if (job.facts.nodes > 1) return std::make_unique<Check>(job.leader);
  return std::make_unique<Duel>(job.leader, first_calls(job.facts), job.shares_cores,
                                patience(job.leader, job.shares_cores, 0));
}

/// Of a policy that never changes its mind.
class Always final : public Policy {
 public:
  explicit Always(int arm) : arm_(arm) {}
  std::vector<int> plan() override { return {arm_}; }
  int gap() const override { return 0; }
  int leader() const override { return arm_; }
  int idle() const override { return std::numeric_limits<int>::max(); }
  bool is_settled() const override { return true; }
  void learn(std::span<const Nanoseconds>) override {}
  double lost() const override { return 0; }
  int reopened() const override { return 0; }
  ArmTimes times(int) const override { return {}; }

 private:
  int arm_;
};

double seconds_of(const Job& job, const LearningRanks::Maker& make, unsigned seed) {
  Tape tape(job, seed);
  LearningRanks ranks(static_cast<int>(job.times.front().own.size()), make);
  double seconds = 0;
  const auto times = [&](int arm, long /*call*/) {
    const CallTimes& took = tape.take(arm, ranks.has_exchanged());
    seconds += took.all;
    return took;
  };
  for (long i = 0; i < kCalls; ++i)
    if (const int arm = ranks.call(times); ranks.was_idle()) times(arm, i);
  return seconds;
}

nlohmann::json replayed(const Job& job) {
  const std::pair<const char*, LearningRanks::Maker> policies[] = {
      {"native", [] { return std::make_unique<Always>(0); }},
      {"other", [] { return std::make_unique<Always>(1); }},
      {"ours", [&] { return ours(job); }},
      {"star", [] { return std::make_unique<Star>(2, StarSettings()); }},
  };
  nlohmann::json seconds;
  for (const auto& [name, make] : policies)
    for (unsigned seed = 0; seed < kSeeds; ++seed)
      seconds[name].push_back(seconds_of(job, make, seed));
  return seconds;
}

}  // namespace
}  // namespace unisono

int main() try {
  using namespace unisono;
  const auto document = nlohmann::json::parse(std::cin);
  for (const auto& json : document.at("jobs")) {
    nlohmann::json line = {{"name", json.at("name")}};
    line["seconds"] = replayed(job_from(json));
    std::cout << line << '\n';
  }
  return testing::Test::HasFailure() ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "unisono_gym: %s\n", error.what());
  return 2;
}
