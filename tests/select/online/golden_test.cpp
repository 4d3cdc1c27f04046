// What learns decides as it did: the arms of simulated ranks, call by call, beside those in
// tests/golden/simulated.txt. With UNISONO_GOLDEN=write they are kept anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "select/online/check.h"
#include "select/online/duel.h"
#include "select/online/shuffle.h"
#include "select/online/star.h"
#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

constexpr int kCalls = 20'000, kMostRuns = 40;

struct Named {
  const char* name;
  LearningRanks::Maker make;
};

struct NamedMachine {
  const char* name;
  SimulatedMachine machine;
};

const std::vector<Named>& policies() {
  static const std::vector<Named> all = {
      {"check, the safe arm leads", [] { return std::make_unique<Check>(1); }},
      {"check, native leads", [] { return std::make_unique<Check>(0); }},
      {"duel, native is thought better", [] { return std::make_unique<Duel>(0, 4, false); }},
      {"duel, kernels are thought better", [] { return std::make_unique<Duel>(1, 4, false); }},
      {"duel, ranks share cores", [] { return std::make_unique<Duel>(1, 4, true); }},
      {"star", [] { return std::make_unique<Star>(2, StarSettings{}); }},
      {"shuffle", [] { return std::make_unique<Shuffle>(3, 8); }},
  };
  return all;
}

const std::vector<NamedMachine>& machines() {
  static const std::vector<NamedMachine> all = {
      {"arm 1 in 0.5 of the time", [](int arm, long) { return arm == 0 ? 1e-4 : 5e-5; }},
      {"in 0.95", [](int arm, long) { return arm == 0 ? 1e-4 : 9.5e-5; }},
      {"in 2, long calls", [](int arm, long) { return arm == 0 ? 1e-2 : 2e-2; }},
      {"in 0.5, then in 2",
       [](int arm, long call) { return arm == 0       ? 2e-5
                                       : call < 5'000 ? 1e-5
                                                      : 4e-5; }},
  };
  return all;
}

/// Runs of one arm as its number and their length, the first ones; then a sum over all calls.
std::string log_of(const Named& policy, const NamedMachine& machine, unsigned seed) {
  SimulatedRanks ranks(3, policy.make, machine.machine, seed);
  std::ostringstream text;
  text << policy.name << "; " << machine.name << "; seed " << seed << ":";
  int runs = 0, before = -1;
  long length = 0;
  std::uint64_t sum = 0;
  const auto end_run = [&] {
    if (length > 0 && runs++ < kMostRuns) text << ' ' << before << 'x' << length;
  };
  for (int call = 0; call < kCalls; ++call) {
    const int arm = ranks.call();
    sum = sum * 31 + static_cast<std::uint64_t>(arm) + 1;
    if (arm != before) {
      end_run();
      length = 0;
      before = arm;
    }
    ++length;
  }
  end_run();
  text << "; " << runs << " runs, " << sum << '\n';
  return text.str();
}

std::string all_logs() {
  std::string text;
  for (const Named& policy : policies())
    for (const NamedMachine& machine : machines())
      for (const unsigned seed : {1U, 2U}) text += log_of(policy, machine, seed);
  return text;
}

TEST(Golden, SimulatedRanksDecideAsTheyDid) {
  const auto file = std::filesystem::path(__FILE__).parent_path() / "../../golden/simulated.txt";
  const std::string found = all_logs();
  if (const char* wish = std::getenv("UNISONO_GOLDEN");
      wish != nullptr && std::string(wish) == "write")
    std::ofstream(file) << found;
  std::ostringstream kept;
  kept << std::ifstream(file).rdbuf();
  EXPECT_EQ(kept.str(), found);
}

}  // namespace
}  // namespace unisono
