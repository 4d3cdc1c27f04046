// Levels of switches.
#pragma once
#include "network/network.h"

namespace unisono {

/// A k-ary n-tree as SimGrid has it, with its D-mod-k routes: up where the number of the receiver,
/// modulo the links up, says, so that all messages to a host come down one way (Zahavi 2012).
class FatTree : public Network {
 public:
  /// `down[l]`: links down from each switch of level l + 1; `up[l]`: links up from each node of
  /// level l, the hosts being level 0. Precondition: as many of both.
  FatTree(std::vector<int> down, std::vector<int> up, const NetworkSpeeds& speeds);

  void route(int from, int to, std::uint8_t way, std::vector<int>& links) const override;
  std::string text_of_link(int link) const override;

 private:
  /// A node of level l by its label: below l which links up lead to it, from l on which subtree.
  int node(const std::vector<int>& label, std::size_t level) const;
  std::vector<int> label(int node, std::size_t level) const;
  int radix(std::size_t digit, std::size_t level) const {
    return digit < level ? up_[digit] : down_[digit];
  }
  int link(std::size_t level, int child, int choice, bool is_down) const {
    return first_link_[level] + (child * up_[level] + choice) * 2 + (is_down ? 1 : 0);
  }

  std::vector<int> down_, up_;
  std::vector<int> first_vertex_, first_link_;  // of each level; links upwards from it
};

/// Around one switch that is never the bottleneck: a path is two links.
class Star : public Network {
 public:
  Star(int hosts, const NetworkSpeeds& speeds);

  void route(int from, int to, std::uint8_t way, std::vector<int>& links) const override;
  std::string text_of_link(int link) const override;
};

}  // namespace unisono
