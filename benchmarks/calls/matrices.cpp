// MPI_Alltoallv of a given matrix of counts, or MPI_Scatterv of its first row: several ways in
// turn, in one job.
//
//   mpiexec -n P unisono-matrices --counts FILE --arms 'A B ...' [--collective scatterv]
//           [--blocks 5] [--calls 1] [--drain 0] [--rotate] [--json FILE]
//
// FILE: P rows of P numbers, the bytes that each rank sends to each. An arm is native (the MPI
// library's own) or an algorithm, with a suffix or none:
//   +known          its counts are made known before (unisono_know_counts), and forgotten after it
//   +stored=ORDER   the order in that file is followed (unisono_load_schedule), and forgotten
//   +init           a persistent call, made once; what is timed is MPI_Start and MPI_Wait
// With UNISONO_REPEATS=0 an arm without suffix exchanges counts in each call. A block is one turn
// of all arms: every rank sends --drain bytes to the rank half of the ranks further on, so that no
// traffic shaper has saved anything; a barrier; --calls calls back to back, each into a buffer of
// its own. The time is that of the slowest rank. Every byte is checked. The first block is not
// counted. --rotate: of a scatterv, the receivers are others in each block. Rank 0 writes a JSON
// object; experiments/compiled/matrices.py and multicast.py run it.
#include <fmt/core.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "base/size.h"
#include "tools/bench/sideband.h"
#include "unisono/unisono.h"

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;
using unisono::bench::Sideband;

struct Options {
  std::string counts, arms, collective = "alltoallv", drain = "0", json;
  int blocks = 5, calls = 1;
  bool rotate = false;
};

/// What is wrong is known on all ranks, and said by the first.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arm {
  std::string text, spec, order;
  bool is_native = false, is_known = false, is_persistent = false;
  std::vector<double> seconds = {};
  unsigned long long own = 0, passed_on = 0;  // calls of this rank
  MPI_Request request = MPI_REQUEST_NULL;
};

Arm arm_of(const std::string& text) {
  Arm arm{text, text.substr(0, text.find('+')), ""};
  const std::string suffix = text.substr(arm.spec.size());
  arm.is_native = arm.spec == "native";
  arm.is_known = suffix == "+known";
  arm.is_persistent = suffix == "+init";
  if (suffix.rfind("+stored=", 0) == 0) arm.order = suffix.substr(8);
  const bool is_ordered = arm.is_known || !arm.order.empty();
  if (!suffix.empty() && (arm.is_native || (!is_ordered && !arm.is_persistent)))
    throw Wrong(text + ": an arm is native or an algorithm, with +known, +stored=FILE or +init");
  return arm;
}

/// A number for each pair of ranks; -1 stands for what is none.
std::vector<long long> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  std::replace(all.begin(), all.end(), ',', ' ');
  std::istringstream words(all);
  std::vector<long long> found;
  for (long long number = 0; words >> number;) found.push_back(std::max(number, -1LL));
  if (!file || !words.eof()) found.push_back(-1);
  return found;
}

class Matrix {
 public:
  /// Read by rank 0.
  Matrix(const std::string& path, const Sideband& side) : ranks_(side.size()) {
    const auto p = static_cast<std::size_t>(ranks_);
    std::vector<long long> found = side.rank() == 0 ? numbers_in(path) : std::vector<long long>();
    int is_sound = found.size() == p * p && *std::min_element(found.begin(), found.end()) >= 0;
    PMPI_Bcast(&is_sound, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_sound == 0)
      throw Wrong(fmt::format("--counts {}: write {} rows of {} numbers, 0 or more", path, p, p));
    found.resize(p * p);
    PMPI_Bcast(found.data(), ranks_ * ranks_, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    counts = std::move(found);
    if (busiest() >= 1LL << 31) throw Wrong("--counts: a rank has 2 GiB or more");
  }

  long long at(int from, int to) const {
    return counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                  static_cast<std::size_t>(to)];
  }

  /// Bytes that a rank sends or receives at most, to and from others.
  long long busiest() const {
    long long most = 0;
    for (int i = 0; i < ranks_; ++i) {
      long long out = 0, in = 0;
      for (int j = 0; j < ranks_; ++j) {
        if (j == i) continue;
        out += at(i, j);
        in += at(j, i);
      }
      most = std::max({most, out, in});
    }
    return most;
  }

  std::vector<long long> counts;

 private:
  int ranks_;
};

/// One direction of a call: blocks one after the other.
struct Side {
  std::vector<int> counts, places;
  int bytes = 0;

  void set(const std::vector<int>& wanted) {
    counts = wanted;
    places.assign(wanted.size(), 0);
    std::partial_sum(wanted.begin(), wanted.end() - 1, places.begin() + 1);
    bytes = places.back() + counts.back();
  }
};

unsigned char value(int block, int from, int to, int index) {
  const unsigned mixed = static_cast<unsigned>(index) * 2654435761U +
                         static_cast<unsigned>(from) * 97U + static_cast<unsigned>(to) * 31U +
                         static_cast<unsigned>(block) * 57U;
  return static_cast<unsigned char>(mixed >> 13U ^ static_cast<unsigned>(from * 7 + to + block));
}

class Measured {
 public:
  Measured(const Options& options, Sideband& side);
  int all();

 private:
  bool scatters() const { return options_.collective == "scatterv"; }
  void shape(int block);
  void fill(int block);
  void check(int block);
  void prepare(Arm& arm);
  void call(Arm& arm, int number);
  void turn(Arm& arm, int block);
  void write(std::FILE* file) const;

  const Options& options_;
  Sideband& side_;
  Matrix matrix_;
  std::vector<Arm> arms_;
  Side sent_, received_;
  Bytes outgoing_;
  std::vector<Bytes> incoming_;
  long long drained_ = 0;
  double wrong_ = 0;
};

Measured::Measured(const Options& options, Sideband& side)
    : options_(options), side_(side), matrix_(options.counts, side) {
  std::istringstream words(options.arms);
  for (std::string word; words >> word;) arms_.push_back(arm_of(word));
  const auto drained = unisono::parse_size(options.drain);
  if (!drained || *drained < 0 || *drained >= 1LL << 31)
    throw Wrong("--drain " + options.drain + ": give a size, as in 64K");
  drained_ = *drained;
  const bool persists =
      std::any_of(arms_.begin(), arms_.end(), [](const Arm& arm) { return arm.is_persistent; });
  if (persists && (options.calls > 1 || options.rotate))
    throw Wrong("+init: its call has one buffer and one shape: not with --calls or --rotate");
  if (options.rotate && !scatters()) throw Wrong("--rotate is for --collective scatterv");
  shape(0);
}

void Measured::shape(int block) {
  const int p = side_.size(), me = side_.rank();
  std::vector<int> out(static_cast<std::size_t>(p), 0), in(static_cast<std::size_t>(p), 0);
  for (int i = 0; i < p; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!scatters()) {
      out[at] = static_cast<int>(matrix_.at(me, i));
      in[at] = static_cast<int>(matrix_.at(i, me));
      continue;
    }
    const bool rotates = options_.rotate && i > 0;
    const int column = rotates ? 1 + (i - 1 + block) % (p - 1) : i;
    out[at] = static_cast<int>(matrix_.at(0, column));
  }
  if (scatters()) in[0] = out[static_cast<std::size_t>(me)];
  sent_.set(out);
  received_.set(in);
  // At least a byte: a persistent call keeps the places of these buffers.
  outgoing_.resize(std::max<std::size_t>(1, static_cast<std::size_t>(sent_.bytes)));
  incoming_.resize(static_cast<std::size_t>(options_.calls));
  for (Bytes& buffer : incoming_)
    buffer.resize(std::max<std::size_t>(1, static_cast<std::size_t>(received_.bytes)));
}

void Measured::fill(int block) {
  const int me = side_.rank();
  for (int to = 0; to < side_.size(); ++to) {
    const auto at = static_cast<std::size_t>(to);
    unsigned char* data = outgoing_.data() + sent_.places[at];
    for (int i = 0; i < sent_.counts[at]; ++i) data[i] = value(block, scatters() ? 0 : me, to, i);
    for (Bytes& buffer : incoming_) {
      unsigned char* into = buffer.data() + received_.places[at];
      for (int i = 0; i < received_.counts[at]; ++i)
        into[i] = static_cast<unsigned char>(~value(block, to, me, i));
    }
  }
}

void Measured::check(int block) {
  for (const Bytes& buffer : incoming_)
    for (int from = 0; from < side_.size(); ++from) {
      const auto at = static_cast<std::size_t>(from);
      const unsigned char* data = buffer.data() + received_.places[at];
      for (int i = 0; i < received_.counts[at]; ++i)
        wrong_ += data[i] != value(block, from, side_.rank(), i) ? 1 : 0;
    }
}

/// All that is control, and not timed.
void Measured::prepare(Arm& arm) {
  const char* collective = options_.collective.c_str();
  int status = arm.is_native ? 0 : unisono_force(collective, arm.spec.c_str());
  if (status == 0 && arm.is_known)
    status = unisono_know_counts(MPI_COMM_WORLD, collective, matrix_.counts.data());
  if (status == 0 && !arm.order.empty())
    status = unisono_load_schedule(MPI_COMM_WORLD, collective, arm.order.c_str());
  if (status != 0) throw Wrong(arm.text + ": " + unisono_error());
  if (!arm.is_persistent || arm.request != MPI_REQUEST_NULL) return;
  if (scatters())
    MPI_Scatterv_init(outgoing_.data(), sent_.counts.data(), sent_.places.data(), MPI_BYTE,
                      incoming_[0].data(), received_.bytes, MPI_BYTE, 0, MPI_COMM_WORLD,
                      MPI_INFO_NULL, &arm.request);
  else
    MPI_Alltoallv_init(outgoing_.data(), sent_.counts.data(), sent_.places.data(), MPI_BYTE,
                       incoming_[0].data(), received_.counts.data(), received_.places.data(),
                       MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &arm.request);
}

void Measured::call(Arm& arm, int number) {
  unsigned char* into = incoming_[static_cast<std::size_t>(number)].data();
  if (arm.is_persistent) {
    MPI_Start(&arm.request);
    MPI_Wait(&arm.request, MPI_STATUS_IGNORE);
  } else if (scatters()) {
    (arm.is_native ? PMPI_Scatterv : MPI_Scatterv)(outgoing_.data(), sent_.counts.data(),
                                                   sent_.places.data(), MPI_BYTE, into,
                                                   received_.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else {
    (arm.is_native ? PMPI_Alltoallv : MPI_Alltoallv)(
        outgoing_.data(), sent_.counts.data(), sent_.places.data(), MPI_BYTE, into,
        received_.counts.data(), received_.places.data(), MPI_BYTE, MPI_COMM_WORLD);
  }
}

void Measured::turn(Arm& arm, int block) {
  unsigned long long own_before = 0, passed_before = 0, own = 0, passed_on = 0;
  unisono_counts(&own_before, &passed_before);  // a persistent call counts when it is made
  prepare(arm);
  fill(block);
  side_.barrier();
  if (drained_ > 0) side_.drain(drained_);
  side_.barrier();
  const auto begin = Clock::now();
  for (int number = 0; number < options_.calls; ++number) call(arm, number);
  double latest[] = {std::chrono::duration<double>(Clock::now() - begin).count() / options_.calls};
  side_.agree(latest);
  unisono_counts(&own, &passed_on);
  arm.own += own - own_before;
  arm.passed_on += passed_on - passed_before;
  if (block > 0) arm.seconds.push_back(latest[0]);
  check(block);
  if (arm.is_known || !arm.order.empty())
    unisono_forget_schedule(MPI_COMM_WORLD, options_.collective.c_str());
}

void Measured::write(std::FILE* file) const {
  nlohmann::ordered_json body{{"collective", options_.collective},
                              {"ranks", side_.size()},
                              {"busiest_port", matrix_.busiest()},
                              {"calls", options_.calls},
                              {"wrong", wrong_},
                              {"arms", nullptr}};
  for (const Arm& arm : arms_)
    body["arms"].push_back({{"arm", arm.text},
                            {"by_unisono", arm.own > 0 && arm.passed_on == 0},
                            {"seconds", arm.seconds}});
  fmt::print(file, "{}\n", body.dump());
}

int Measured::all() {
  for (int block = 0; block <= options_.blocks; ++block) {
    shape(block);
    for (Arm& arm : arms_) turn(arm, block);
  }
  for (Arm& arm : arms_)
    if (arm.request != MPI_REQUEST_NULL) MPI_Request_free(&arm.request);
  side_.agree({}, {&wrong_, 1});
  if (side_.rank() == 0) {
    std::FILE* file = options_.json.empty() ? stdout : std::fopen(options_.json.c_str(), "w");
    if (file == nullptr)
      fmt::print(stderr, "unisono-matrices: --json {}: cannot be written\n", options_.json);
    if (file != nullptr) write(file);
    if (file != nullptr && file != stdout) std::fclose(file);
  }
  return wrong_ > 0 ? 1 : 0;
}

int run(int argc, char** argv, Sideband& side) try {
  Options options;
  CLI::App app("MPI_Alltoallv of a matrix, or MPI_Scatterv of its first row, in several ways");
  app.add_option("--counts", options.counts, "file of the matrix")->required();
  app.add_option("--arms", options.arms, "native, ALGORITHM[+known|+stored=FILE|+init] ...")
      ->required();
  app.add_option("--collective", options.collective, "alltoallv, scatterv (alltoallv)")
      ->check(CLI::IsMember({"alltoallv", "scatterv"}));
  app.add_option("--blocks", options.blocks, "that are counted (5)")->check(CLI::Range(1, 1 << 20));
  app.add_option("--calls", options.calls, "of an arm in a block (1)")->check(CLI::Range(1, 1000));
  app.add_option("--drain", options.drain, "bytes before what is timed (0)");
  app.add_flag("--rotate", options.rotate, "others receive in each block");
  app.add_option("--json", options.json, "write the results to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return side.rank() == 0 ? app.exit(help) : 0;
  }
  return Measured(options, side).all();
} catch (const CLI::ParseError& error) {
  if (side.rank() == 0) std::fprintf(stderr, "unisono-matrices: %s\n", error.what());
  return 2;
} catch (const Wrong& error) {
  if (side.rank() == 0) std::fprintf(stderr, "unisono-matrices: %s\n", error.what());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    Sideband side(MPI_COMM_WORLD);
    status = run(argc, argv, side);
  }
  MPI_Finalize();
  return status;
}
