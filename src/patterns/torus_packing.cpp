#include "patterns/torus_packing.h"

#include <algorithm>
#include <bit>

namespace unisono {

namespace {

/// Hops that are worse are equally bad.
constexpr int kQualities = 512;
/// A link costs as much as so many messages more on the way from the root.
constexpr int kLinkWeight = 8;
/// How much more the choice differs with every turn, on the same scale.
constexpr std::uint32_t kTurned = 3;

/// What looking at a host's links costs.
constexpr int kLooksOfHost = 3;

/// Wellons' lowbias32.
std::uint32_t mixed(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352dU;
  value = (value ^ (value >> 15)) * 0x846ca68bU;
  return value ^ (value >> 16);
}

}  // namespace

Packing::Packing(const TorusMembers& members, int root, TreesFor use, Routing routing)
    : members_(members),
      root_(root),
      use_(use),
      routing_(routing),
      places_(members),
      links_(members.torus()) {
  const bool ways = routing == Routing::directed;
  for (const Flow flow : {Flow::out, Flow::in}) {
    if (use == (flow == Flow::out ? TreesFor::reduction : TreesFor::broadcast)) continue;
    auto& hops = flow == Flow::out ? out_ : in_;
    hops.emplace(members, places_, flow, ways);
    if (routing == Routing::source)
      make_all_ports(flow);
    else
      make_ports(*hops, flow);
  }
  if (routing != Routing::source) return;
  seen_.resize(static_cast<std::size_t>(members.torus().hosts()));
  arrived_.resize(seen_.size());
}

/// The link at the child.
LinkId Packing::link_of(const Tree& tree, int child, int port) const {
  const int ports = 2 * members_.torus().dimensions();
  const LinkId leaving = members_.host(child) * ports + port;
  return tree.is_out() ? links_.to(leaving ^ 1) * ports + port : leaving;
}

/// Where members get their data, or pass it on to the root, and the root likewise.
void Packing::make_ports(const HopTable& hops, Flow flow) {
  const bool out = flow == Flow::out;
  Tree tree;
  tree.flow = flow;
  // There are several hops to each.
  std::vector<std::uint64_t> ports(static_cast<std::size_t>(members_.size()));
  for (int member = 0; member < members_.size(); ++member)
    for (const Hop hop : hops.of(member))
      ports[static_cast<std::size_t>(hop.other())] |= std::uint64_t{1} << hop.port();
  for (int member = 0; member < members_.size(); ++member)
    for (auto left = ports[static_cast<std::size_t>(member)]; left != 0; left &= left - 1)
      if (member != root_)
        links_.make_port(link_of(tree, member, std::countr_zero(left)), tree.end_of_child());
  for (const Hop hop : hops.of(root_)) {
    const int root = members_.host(root_), child = members_.host(hop.other());
    path_.clear();
    members_.torus().route(out ? root : child, out ? child : root, hop.way(),
                           [&](LinkId link) { path_.push_back(link); });
    work_ += std::ssize(path_);
    links_.make_port(out ? path_.front() : path_.back(), tree.end_of_parent());
  }
}

/// Where messages may come in, or leave, by any link.
void Packing::make_all_ports(Flow flow) {
  const int ports = 2 * members_.torus().dimensions();
  Tree tree;
  tree.flow = flow;
  for (int member = 0; member < members_.size(); ++member)
    for (int p = 0; p < ports; ++p) {
      const LinkId leaving = members_.host(member) * ports + p;
      const int there = links_.to(leaving);
      if (there < 0) continue;
      const LinkId arriving = there * ports + (p ^ 1);
      const bool is_root = member == root_;
      const auto end = is_root ? tree.end_of_parent() : tree.end_of_child();
      links_.make_port(tree.is_out() == is_root ? leaving : arriving, end);
    }
}

std::optional<TorusTrees> Packing::grow(int count, std::uint32_t turn, bool fewer,
                                        std::int64_t most_work) {
  turn_ = turn;
  seed_ = mixed(turn);
  most_work_ = most_work;
  links_.reset();
  // What was allocated for trees before serves again.
  trees_.resize(static_cast<std::size_t>(use_ == TreesFor::both ? 2 * count : count));
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    const bool in = use_ == TreesFor::both ? i % 2 == 1 : use_ == TreesFor::reduction;
    trees_[i].flow = in ? Flow::in : Flow::out;
    trees_[i].number = static_cast<std::uint8_t>(i + 1);
    start(trees_[i]);
  }
  while (Tree* tree = smallest(std::nullopt)) {
    if (tree->size == members_.size()) return result();
    if (extend(*tree)) continue;
    if (!fewer) return std::nullopt;
    const bool too_long = work_ >= most_work_;
    give_up(*tree);
    if (too_long)
      most_work_ = work_ + most_work / 8;
    else
      retry();
  }
  return std::nullopt;
}

void Packing::start(Tree& tree) {
  const auto size = static_cast<std::size_t>(members_.size());
  tree.given_up = false;
  tree.size = 1;
  tree.parent.assign(size, kNotYet);
  tree.depth.assign(size, 0);
  tree.next.assign(size, 0);
  if (routing_ == Routing::directed) tree.ways.assign(size, 0);
  tree.routes.clear();
  tree.waiting.assign(kQualities, kNobody);
  tree.before.resize(size);
  tree.best = 0;
  tree.parent[static_cast<std::size_t>(root_)] = -1;
  for (int member = 0; member < members_.size(); ++member)
    links_.need(members_.host(member), member == root_ ? tree.end_of_parent() : tree.end_of_child(),
                1);
  wait(tree, root_);
}

/// Until it is the turn of the member's next hop.
void Packing::wait(Tree& tree, int member) {
  const auto m = static_cast<std::size_t>(member);
  const auto hops = hops_of(tree, member);
  std::uint16_t& next = tree.next[m];
  while (next < hops.size() && tree.has(hops[next].other())) {
    ++next;
    ++work_;
  }
  if (next == hops.size()) return;
  const Hop hop = hops[next];
  const auto key = static_cast<std::uint32_t>(hop.other()) * 64 + tree.number;
  const auto turned = turn_ == 0 ? 0 : static_cast<int>(mixed(key ^ seed_) % (kTurned * turn_));
  const auto quality = static_cast<std::size_t>(
      std::min(hop.length() * kLinkWeight + tree.depth[m] + turned, kQualities - 1));
  tree.before[m] = tree.waiting[quality];
  tree.waiting[quality] = static_cast<std::int16_t>(member);
  tree.best = std::min(tree.best, quality);
}

/// Of those that are not given up; the first of several.
Packing::Tree* Packing::smallest(std::optional<Flow> flow) {
  Tree* found = nullptr;
  for (Tree& tree : trees_)
    if (!tree.given_up && (!flow || tree.flow == *flow) &&
        (found == nullptr || tree.size < found->size))
      found = &tree;
  return found;
}

/// By one member at least, if that is possible.
bool Packing::extend(Tree& tree) {
  while (tree.best < tree.waiting.size() && work_ < most_work_) {
    auto& waiting = tree.waiting[tree.best];
    if (waiting == kNobody) {
      ++tree.best;
      continue;
    }
    const int parent = waiting;
    waiting = tree.before[static_cast<std::size_t>(parent)];
    const Hop hop = hops_of(tree, parent)[tree.next[static_cast<std::size_t>(parent)]++];
    const int child = hop.other();
    ++work_;
    const bool taken = !tree.has(child) && (routing_ == Routing::source ? search(tree, child)
                                                                        : take(tree, parent, hop));
    // A member that no free route leads to has none later.
    if (!taken && routing_ == Routing::source && !tree.has(child)) return false;
    wait(tree, parent);
    if (taken) return true;
  }
  return false;
}

/// At which ends a link is what the tree's hosts there need.
unsigned Packing::met(const Tree& tree, int from, int to) const {
  const int above = members_.member(tree.is_out() ? from : to);
  const int below = members_.member(tree.is_out() ? to : from);
  unsigned ends = 0;
  if (below >= 0 && !tree.has(below)) ends |= tree.end_of_child();
  if (above == root_ && tree.size == 1) ends |= tree.end_of_parent();
  return ends;
}

/// Whether the links of a message may all be taken. path_: they, from the tree on, if so.
bool Packing::walk(const Tree& tree, int parent, Hop hop) {
  const Torus& torus = members_.torus();
  const int from = tree.is_out() ? parent : hop.other(), to = tree.is_out() ? hop.other() : parent;
  const Way way = hop.way();
  // Looking stops where a link is taken. All of a message's links are work nevertheless, so that
  // how many trees are tried for does not depend on where.
  const bool known = hop.length() < Hop::kLong;
  bool free = true;
  path_.clear();
  int host = members_.host(from);
  for (int i = 0; i < torus.dimensions() && (free || !known); ++i) {
    const int d = way.last_dimension_first ? torus.dimensions() - 1 - i : i;
    const int end = places_.at(to, d);
    int at = places_.at(from, d);
    const int sign = torus.direction(at, end, d, way.direction);
    for (; at != end && (free || !known); at = torus.beside(at, d, sign)) {
      const LinkId link = torus.link(host, d, sign);
      const int next = links_.to(link);
      free = free && links_.is_free(link) && links_.may_take(link, host, met(tree, host, next));
      path_.push_back(link);
      host = next;
    }
  }
  work_ += known ? hop.length() : std::ssize(path_);
  if (!tree.is_out()) std::reverse(path_.begin(), path_.end());
  return free;
}

bool Packing::take(Tree& tree, int parent, Hop hop) {
  if (!links_.is_free(link_of(tree, hop.other(), hop.port()))) return false;
  if ((routing_ == Routing::adaptive && hop.length() > 1) || !walk(tree, parent, hop)) return false;
  follow(tree, parent, hop.way().number());
  return true;
}

/// The shortest free route between the tree and a member, from there.
bool Packing::search(Tree& tree, int child) {
  const int ports = 2 * members_.torus().dimensions();
  const bool out = tree.is_out();
  const int root = tree.size == 1 ? members_.host(root_) : -1;
  if (++searches_ == 0) {
    std::fill(seen_.begin(), seen_.end(), 0);
    searches_ = 1;
  }
  queue_.assign(1, members_.host(child));
  seen_[static_cast<std::size_t>(queue_[0])] = searches_;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const int here = queue_[i], below = members_.member(here);
    unsigned met_here = 0;
    if (below >= 0 && !tree.has(below)) met_here = tree.end_of_child();
    work_ += kLooksOfHost;
    for (int p = 0; p < ports; ++p) {
      const LinkId leaving = here * ports + p;
      const int there = links_.to(leaving);
      if (there < 0 || seen_[static_cast<std::size_t>(there)] == searches_) continue;
      const LinkId link = out ? there * ports + (p ^ 1) : leaving;  // of the two between them
      unsigned met = met_here;
      if (there == root) met |= tree.end_of_parent();
      if (!links_.may_take(link, out ? there : here, met)) continue;
      seen_[static_cast<std::size_t>(there)] = searches_;
      arrived_[static_cast<std::size_t>(there)] = static_cast<std::uint8_t>(p);
      queue_.push_back(there);
      const int member = members_.member(there);
      if (member < 0 || !tree.has(member)) continue;
      retrace(out, there);
      follow(tree, member, 0);
      return true;
    }
  }
  return false;
}

/// path_: the links from there to the host that was searched from, or that host's to there.
void Packing::retrace(bool out, int there) {
  const int ports = 2 * members_.torus().dimensions();
  path_.clear();
  while (there != queue_[0]) {
    const int port = arrived_[static_cast<std::size_t>(there)];
    const LinkId back = there * ports + (port ^ 1);
    there = links_.to(back);
    path_.push_back(out ? back : there * ports + port);
  }
}

/// Takes the path's links, and the members along it that are not yet in the tree.
void Packing::follow(Tree& tree, int parent, std::uint8_t way) {
  route_.clear();
  for (const LinkId link : path_) {
    links_.take(link, tree.number);
    route_.push_back(link);
    const int member = members_.member(tree.is_out() ? links_.to(link) : links_.from(link));
    if (member < 0 || tree.has(member)) continue;
    const auto m = static_cast<std::size_t>(member);
    if (!tree.ways.empty()) tree.ways[m] = way;
    if (routing_ == Routing::source && route_.size() > 1) {
      if (!tree.is_out()) std::reverse(route_.begin(), route_.end());
      tree.routes.push_back(member);
      tree.routes.push_back(static_cast<int>(route_.size()));
      tree.routes.insert(tree.routes.end(), route_.begin(), route_.end());
    }
    route_.clear();
    add(tree, member, parent);
    parent = member;
  }
}

void Packing::add(Tree& tree, int member, int parent) {
  const auto m = static_cast<std::size_t>(member);
  tree.parent[m] = static_cast<std::int16_t>(parent);
  tree.depth[m] = static_cast<std::uint16_t>(
      std::min(tree.depth[static_cast<std::size_t>(parent)] + 1, kQualities));
  links_.need(members_.host(member), tree.end_of_child(), -1);
  if (tree.size++ == 1) links_.need(members_.host(root_), tree.end_of_parent(), -1);
  wait(tree, member);
}

/// And, where there are both flows, the smallest of the other: there are as many of each.
void Packing::give_up(Tree& tree) {
  Tree* const other =
      use_ != TreesFor::both ? nullptr : smallest(tree.is_out() ? Flow::in : Flow::out);
  for (Tree* const gone : {&tree, other}) {
    if (gone == nullptr) continue;
    gone->given_up = true;
    gone->routes = {};
    links_.give_back(gone->number);
    for (int member = 0; member < members_.size(); ++member)
      if (!gone->has(member)) links_.need(members_.host(member), gone->end_of_child(), -1);
    if (gone->size == 1) links_.need(members_.host(root_), gone->end_of_parent(), -1);
  }
}

/// What was in the way may be so no longer.
void Packing::retry() {
  for (Tree& left : trees_) {
    if (left.given_up) continue;
    std::fill(left.next.begin(), left.next.end(), 0);
    std::fill(left.waiting.begin(), left.waiting.end(), kNobody);
    left.best = left.waiting.size();
    for (int member = 0; member < members_.size(); ++member)
      if (left.has(member)) wait(left, member);
  }
}

TorusTrees Packing::result() {
  TorusTrees trees;
  for (Tree& tree : trees_)
    if (!tree.given_up) (tree.is_out() ? trees.out : trees.in).push_back(done(tree));
  return trees;
}

TorusTree Packing::done(Tree& tree) const {
  // Nothing more is asked of these.
  tree.depth = {};
  tree.next = {};
  TorusTree done;
  done.flow = tree.flow;
  done.parent.assign(tree.parent.begin(), tree.parent.end());
  done.ways = std::move(tree.ways);
  if (routing_ != Routing::source) return done;
  done.route = NamedRoutes(members_.size(), tree.routes.size());
  for (std::size_t i = 0, count; i < tree.routes.size(); i += 2 + count) {
    count = static_cast<std::size_t>(tree.routes[i + 1]);
    done.route.name(tree.routes[i], std::span(tree.routes).subspan(i + 2, count));
  }
  return done;
}

}  // namespace unisono
