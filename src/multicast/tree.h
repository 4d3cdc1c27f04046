// The tree of a message: its sender is the root, numbers are counted from it, and the children of
// number i are f*i+1 to f*i+f. With a fan-out of all, every receiver is the root's child.
#pragma once
#include <algorithm>

namespace unisono::multicast {

class Tree {
 public:
  Tree() = default;
  Tree(int members, int root, int fan_out) : members_(members), root_(root), fan_out_(fan_out) {}

  /// Of a member that is not the root.
  int parent(int member) const { return at((place(member) - 1) / fan_out_); }
  /// How many; the i-th.
  int children(int member) const {
    const long first = long{fan_out_} * place(member) + 1;
    return static_cast<int>(std::clamp<long>(members_ - first, 0, fan_out_));
  }
  int child(int member, int i) const { return at(fan_out_ * place(member) + 1 + i); }
  /// Whether the one is the other, or its ancestor.
  bool is_above(int ancestor, int member) const {
    int at = place(member);
    for (const int goal = place(ancestor); at > goal;) at = (at - 1) / fan_out_;
    return at == place(ancestor);
  }
  int root() const { return root_; }

 private:
  int place(int member) const { return (member - root_ + members_) % members_; }
  int at(int place) const { return (place + root_) % members_; }

  int members_ = 1, root_ = 0, fan_out_ = 1;
};

}  // namespace unisono::multicast
