// A queue that keeps its memory: what comes and goes with every message must not be allocated.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace unisono::node {

template <class T>
class Fifo {
 public:
  std::size_t size() const { return items_.size() - first_; }
  bool empty() const { return first_ == items_.size(); }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  void push(T item) { items_.push_back(std::move(item)); }
  void pop() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      items_[first_] = T();  // what it owns goes now
    if (++first_ == items_.size()) clear();
  }
  auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() { return items_.end(); }
  /// The others keep their order.
  void erase(typename std::vector<T>::iterator item) {
    if (item == begin()) return pop();
    items_.erase(item);
  }
  void clear() {
    items_.clear();
    first_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace unisono::node
