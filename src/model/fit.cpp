#include "model/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/statistics.h"
#include "files/json.h"

namespace unisono {

namespace {

constexpr double kTolerance = 0.2;        // of a point's distance from its line
constexpr double kLeastSeconds = 1e-9;    // below that a clock tells nothing
constexpr Count kLeastLocalBytes = 4096;  // of copies and reductions that show a rate

struct Line {
  double alpha = 0, beta = 0;

  double at(double bytes) const { return alpha + beta * bytes; }
  bool fits(const Point& point) const {
    return std::abs(at(point.bytes) - point.seconds) <= kTolerance * point.seconds;
  }
};

struct Weighted {
  double value, weight;
};

double weighted_median(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double half = 0;
  for (const Weighted& each : values) half += each.weight / 2;
  for (const Weighted& each : values) {
    half -= each.weight;
    if (half <= 0) return each.value;
  }
  return values.back().value;
}

// Times err in proportion, so that a slope is worth as much as the two points are apart, in units
// of what the farther one errs.
Line theil_sen(std::span<const Point> points) {
  std::vector<Weighted> slopes, heights;
  for (std::size_t j = 1; j < points.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const double distance = points[j].bytes - points[i].bytes;
      const double error = std::max(points[i].seconds, points[j].seconds);
      slopes.push_back({(points[j].seconds - points[i].seconds) / distance, distance / error});
    }
  Line line;
  line.beta = std::max(0.0, weighted_median(slopes));
  for (const Point& point : points)
    heights.push_back({point.seconds - line.beta * point.bytes, 1 / point.seconds});
  line.alpha = weighted_median(heights);
  return line;
}

/// Whether the line stands for the points: no two neighbours beside it, and not the first or last.
bool stands_for(const Line& line, std::span<const Point> points) {
  if (!line.fits(points.front()) || !line.fits(points.back())) return false;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (!line.fits(points[i - 1]) && !line.fits(points[i])) return false;
  return true;
}

/// The slope of a last point that is alone: from the one before, as far as times grow.
Line through_last(std::span<const Point> points) {
  const Point& last = points.back();
  if (points.size() == 1) return {last.seconds, 0};
  const Point& before = points[points.size() - 2];
  const double beta = std::max(0.0, (last.seconds - before.seconds) / (last.bytes - before.bytes));
  return {last.seconds - beta * last.bytes, beta};
}

/// The medians of a quantity by size. No size takes longer than a larger one: where it did, it met
/// what the larger one did not.
std::vector<Point> medians(const Samples& samples, Quantity quantity, LevelId level) {
  std::map<Count, double> by_size;
  for (const Sample& sample : samples.samples)
    if (sample.quantity == quantity && sample.level == level && !sample.seconds.empty())
      by_size[sample.bytes] = std::max(median(sample.seconds), kLeastSeconds);
  std::vector<Point> points;
  for (const auto& [bytes, seconds] : by_size)
    points.push_back({static_cast<double>(bytes), seconds});
  for (std::size_t i = points.size(); i-- > 1;)
    points[i - 1].seconds = std::min(points[i - 1].seconds, points[i].seconds);
  return points;
}

int active_ranks(const Samples& samples, LevelId level) {
  int active = 1;
  for (const Sample& sample : samples.samples)
    if (sample.quantity == Quantity::exchange && sample.level == level)
      active = std::max(active, sample.active);
  return active;
}

/// Seconds per byte of copies or reductions.
std::optional<double> rate(const Samples& samples, Quantity quantity) {
  std::vector<double> rates;
  for (const Sample& sample : samples.samples)
    if (sample.quantity == quantity && sample.bytes >= kLeastLocalBytes && !sample.seconds.empty())
      rates.push_back(median(sample.seconds) / static_cast<double>(sample.bytes));
  if (rates.empty()) return std::nullopt;
  return median(rates);
}

/// Nothing where one of the two was not measured.
std::optional<TransferTimes> way(const Samples& samples, Quantity one_way, Quantity gap) {
  const auto trips = medians(samples, one_way, kWithinNode);
  const auto messages = medians(samples, gap, kWithinNode);
  if (trips.empty() || messages.empty()) return std::nullopt;
  return TransferTimes{fit_cost(trips), fit_cost(messages)};
}

std::optional<MemoryTimes> node_memory(const Samples& samples) {
  const auto stores = way(samples, Quantity::stores_one_way, Quantity::stores_gap);
  const auto copy = medians(samples, Quantity::memory_copy, kWithinNode);
  const auto combine = medians(samples, Quantity::memory_combine, kWithinNode);
  const auto fence = medians(samples, Quantity::fence, kWithinNode);
  if (!stores || copy.empty() || combine.empty() || fence.empty()) return std::nullopt;
  return MemoryTimes{
      .stores = *stores,
      .single_copy = way(samples, Quantity::single_copy_one_way, Quantity::single_copy_gap),
      .copy = fit_cost(copy),
      .combine = fit_cost(combine),
      .fence = fence.front().seconds};
}

Sample sample_from(const Json& row) {
  constexpr double kLongest = 1e9;  // seconds
  constexpr std::size_t kMostTimes = 1 << 16;
  Sample sample;
  const auto name = word(row, "quantity");
  const auto found = std::find(kQuantities.begin(), kQuantities.end(), name);
  if (found == kQuantities.end()) throw Bad{"no quantity " + in_quotes(name)};
  sample.quantity = static_cast<Quantity>(found - kQuantities.begin());
  sample.bytes = integer(field(row, "bytes"), "bytes", 0, Count{1} << 50);
  const Json& seconds = list(row, "seconds");
  if (seconds.size() > kMostTimes) throw Bad{"seconds is no short list"};
  for (const Json& time : seconds)
    sample.seconds.push_back(number(time, "a time", -kLongest, kLongest));
  sample.active = std::max(1, whole_or(1, row, "active", 0));
  if (sample.quantity <= Quantity::exchange)
    sample.level = whole(row, "level", 0) == 0 ? kWithinNode : kBetweenNodes;
  return sample;
}

Samples samples_from(const Json& file) {
  // Lines through them cost the third power of how many sizes there are; calibration takes some 20.
  constexpr std::size_t kMostSamples = 1000;
  if (!file.is_object() || file.value("format", Json()) != "unisono-samples" ||
      file.value("version", Json()) != 1)
    throw Bad{
        "no file of samples (\"format\": \"unisono-samples\", version 1): unisono-calibrate prints "
        "one"};
  Samples samples{word(field(file, "mpi"), "flavour"), word(field(file, "mpi"), "library"), {}};
  const Json& rows = list(file, "samples");
  if (rows.size() > kMostSamples)
    throw Bad{"samples has more than " + std::to_string(kMostSamples) + " rows"};
  for (const Json& row : rows) samples.samples.push_back(sample_from(row));
  return samples;
}

}  // namespace

// Sizes between two lines: up to the geometric mean, since nobody knows where the change is.
Cost fit_cost(std::span<const Point> points) {
  Cost cost;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t count = points.size() - first;
    Line line;
    for (; count > 1; --count) {
      line = theil_sen(points.subspan(first, count));
      if (stands_for(line, points.subspan(first, count))) break;
    }
    if (count == 1) line = through_last(points.first(first + 1));
    const double from =
        first == 0 ? 0 : std::sqrt(std::max(1.0, points[first - 1].bytes) * points[first].bytes);
    cost.pieces.push_back({from, line.alpha, line.beta});
    first += count;
  }
  return cost;
}

Result<Samples> read_samples(std::string_view text) {
  constexpr JsonLimits kLimits{std::size_t{2} << 20, std::size_t{1} << 17};
  return result_of([&] { return samples_from(parse_json(text, kLimits)); });
}

Result<Machine> fit(const Samples& samples) {
  Machine machine{.flavour = samples.flavour, .library = samples.library};
  for (const LevelId level : {kWithinNode, kBetweenNodes}) {
    const auto one_way = medians(samples, Quantity::one_way, level);
    const auto gap = medians(samples, Quantity::gap, level);
    const auto exchange = medians(samples, Quantity::exchange, level);
    if (one_way.empty()) continue;
    if (gap.empty() || exchange.empty())
      return Error{"one-way times but no gap or exchange " +
                   std::string(level == kWithinNode ? "within a node" : "between nodes")};
    machine.levels[level] = {fit_cost(one_way), fit_cost(gap), fit_cost(exchange),
                             active_ranks(samples, level)};
  }
  if (!machine.levels[kWithinNode] && !machine.levels[kBetweenNodes])
    return Error{"no one-way times: calibrate with 2 ranks at least"};
  const auto gamma = rate(samples, Quantity::reduce);
  const auto copy = rate(samples, Quantity::copy);
  if (!gamma || !copy) return Error{"no times of reductions or copies of 4 KB or more"};
  machine.gamma = *gamma;
  machine.copy = *copy;
  machine.node_memory = node_memory(samples);
  return machine;
}

}  // namespace unisono
