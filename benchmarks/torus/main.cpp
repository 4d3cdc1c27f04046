// What it costs a rank to make the trees of a torus: CPU time of its thread, the median of several,
// and the memory that is held at most while they are made. A line of JSON a case.
//
//   unisono-torus-benchmark [TIMES [LARGEST]]   # TIMES of each case (15); tori of at most LARGEST
//   hosts
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>

#include "patterns/torus_trees.h"

namespace {

// One thread: no locks.
std::size_t now_held = 0, most_held = 0;

void* held(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  now_held += malloc_usable_size(block);
  most_held = std::max(most_held, now_held);
  return block;
}

void released(void* block) {
  if (block != nullptr) now_held -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return held(std::malloc(size)); }
void operator delete(void* block) noexcept { released(block); }
void operator delete(void* block, std::size_t /*size*/) noexcept { released(block); }

namespace unisono {
namespace {

struct Case {
  std::vector<int> sizes;
  std::string_view members;  ///< as the table says it
  int count;                 ///< of hosts, at random; 0: all
  TreeKind kind;
  TreesFor use;
  Routing routing;
};

std::vector<int> hosts_of(const Case& c, int all) {
  std::vector<int> hosts(static_cast<std::size_t>(all));
  std::iota(hosts.begin(), hosts.end(), 0);
  if (c.count == 0) return hosts;
  std::vector<int> some;
  std::mt19937 draw(1);
  std::sample(hosts.begin(), hosts.end(), std::back_inserter(some), c.count, draw);
  return some;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string shape_of(const std::vector<int>& sizes) {
  std::string text;
  for (const int size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

void measure(const Case& c, int times) {
  const auto torus = std::make_shared<const Torus>(c.sizes);
  const std::vector<int> hosts = hosts_of(c, torus->hosts());
  std::vector<double> seconds;
  std::size_t most = 0, trees = 0, kept = 0;
  for (int i = 0; i < times; ++i) {
    const std::size_t before = now_held;
    most_held = now_held;
    const double begin = thread_seconds();
    const TorusMembers members(torus, hosts);
    const auto made = make_trees(c.kind, members, hosts.front(), c.use, c.routing);
    seconds.push_back(thread_seconds() - begin);
    if (!made) return;  // this kind does not apply
    most = most_held - before;
    kept = now_held - before;
    trees = made->out.size() + made->in.size();
  }
  std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
  std::printf(R"({"torus":"%s","members":"%.*s","hosts":%zu,"kind":"%s","for":"%s","routing":"%s",)"
              R"("trees":%zu,"milliseconds":%.3f,"most_bytes":%zu,"kept_bytes":%zu,"times":%d})"
              "\n",
              shape_of(c.sizes).c_str(), static_cast<int>(c.members.size()), c.members.data(),
              hosts.size(), std::string(kTreeKindNames[static_cast<std::size_t>(c.kind)]).c_str(),
              c.use == TreesFor::both ? "both" : "broadcast",
              c.routing == Routing::source ? "source" : "minimal", trees,
              1000 * seconds[static_cast<std::size_t>(times / 2)], most, kept, times);
  std::fflush(stdout);
}

}  // namespace
}  // namespace unisono

int main(int argc, char** argv) {
  using namespace unisono;
  const int times = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const int largest = argc > 2 ? std::atoi(argv[2]) : 1 << 16;
  for (const std::vector<int>& sizes : {std::vector{16, 16, 16}, std::vector{32, 32, 64}}) {
    const int all = sizes[0] * sizes[1] * sizes[2];
    if (all > largest) continue;
    const std::pair<std::string_view, int> groups[] = {
        {"all", 0}, {"half", all / 2}, {"10 %", all / 10}, {"31", 31}};
    for (const auto& [name, count] : groups)
      for (const Routing routing : {Routing::minimal, Routing::source}) {
        measure({sizes, name, count, TreeKind::best, TreesFor::broadcast, routing}, times);
        measure({sizes, name, count, TreeKind::best, TreesFor::both, routing}, times);
      }
    for (const auto& [name, count] : groups)
      for (const TreeKind kind : {TreeKind::multicolour, TreeKind::box, TreeKind::raster,
                                  TreeKind::snake, TreeKind::greedy})
        measure({sizes, name, count, kind, TreesFor::broadcast, Routing::minimal}, times);
  }
  return 0;
}
