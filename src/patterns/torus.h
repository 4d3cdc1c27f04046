// A torus or mesh of hosts: coordinates, links, and the routes of messages.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace unisono {

/// A directed link: (host * dimensions + dimension) * 2, plus 1 where it leads downwards.
using LinkId = std::int32_t;

/// How the network finds a message's route.
enum class Routing : std::uint8_t {
  minimal,   ///< dimension by dimension, the shorter way round each ring; see direction()
  directed,  ///< dimension by dimension, as the sender asks (hint bits): see Way
  source,    ///< over any links that the sender names
  adaptive,  ///< by load: nobody knows it beforehand
};

/// What a sender asks of dimension-ordered routing. Only Routing::directed heeds more than the
/// standard.
struct Way {
  /// Round each ring: 0: the shorter way; +1, -1: always upwards, downwards.
  std::int8_t direction = 0;
  bool last_dimension_first = false;

  /// As in Op: 0 is the standard.
  constexpr std::uint8_t number() const {
    return static_cast<std::uint8_t>((direction < 0 ? 2 : direction) +
                                     (last_dimension_first ? 4 : 0));
  }
  static constexpr Way numbered(std::uint8_t number) {
    const int sign = number & 3;
    return {static_cast<std::int8_t>(sign == 1 ? 1 : sign == 2 ? -1 : 0), (number & 4) != 0};
  }
  bool operator==(const Way&) const = default;
};

/// Hosts have numbers: x + y X + z X Y. A ring of two hosts has one link each way: it is not a
/// ring.
class Torus {
 public:
  /// Preconditions: sizes > 0, their product below 2^26, as many entries in `wraps`, or none: all
  /// dimensions wrap around.
  explicit Torus(std::vector<int> sizes, std::vector<bool> wraps = {});

  int dimensions() const { return static_cast<int>(sizes_.size()); }
  int size(int dimension) const { return sizes_[static_cast<std::size_t>(dimension)]; }
  bool wraps(int dimension) const { return wraps_[static_cast<std::size_t>(dimension)]; }
  int hosts() const { return hosts_; }
  /// Numbers of links; those that a mesh lacks are among them.
  int links() const { return hosts_ * dimensions() * 2; }

  int coordinate(int host, int dimension) const {
    return host / stride(dimension) % size(dimension);
  }
  /// Of the host whose coordinate in this dimension is `coordinate`, all others being alike.
  int moved(int host, int dimension, int coordinate) const {
    return host + (coordinate - this->coordinate(host, dimension)) * stride(dimension);
  }
  int host(std::span<const int> coordinates) const;
  std::vector<int> coordinates(int host) const;
  /// "(3,0,7)"
  std::string text(int host) const;

  /// The coordinate one step upwards or downwards in a ring, or where a mesh goes on.
  int beside(int coordinate, int dimension, int sign) const {
    const int next = coordinate + sign, n = size(dimension);
    return next < 0 ? n - 1 : next == n ? 0 : next;
  }
  /// The host one step upwards or downwards; -1: the mesh ends here.
  int neighbour(int host, int dimension, int sign) const;
  LinkId link(int host, int dimension, int sign) const {
    return (host * dimensions() + dimension) * 2 + (sign < 0 ? 1 : 0);
  }
  int from(LinkId link) const { return link / 2 / dimensions(); }
  int dimension(LinkId link) const { return link / 2 % dimensions(); }
  int sign(LinkId link) const { return link % 2 == 0 ? 1 : -1; }
  int to(LinkId link) const { return neighbour(from(link), dimension(link), sign(link)); }
  /// Whether there is such a link: not beyond the ends of a mesh, nor in a dimension of one host.
  bool exists(LinkId link) const { return size(dimension(link)) > 1 && to(link) >= 0; }
  /// "(3,0,7) up in dimension 0"
  std::string text_of_link(LinkId link) const;

  /// Upwards from one coordinate to another (+1), downwards (-1), or 0: they are the same. A mesh
  /// has no choice. Where both ways round a ring are as short it is upwards, but to coordinate 0
  /// downwards, as SimGrid has it.
  int direction(int from, int to, int dimension, std::int8_t wanted) const {
    if (from == to) return 0;
    if (!wraps(dimension)) return to > from ? 1 : -1;
    if (wanted != 0) return wanted;
    const int n = size(dimension), up = to > from ? to - from : to - from + n, down = n - up;
    if (up == down) return to == 0 ? -1 : 1;
    return up < down ? 1 : -1;
  }
  /// Calls use(link) for each link of the dimension-ordered route, in its order.
  template <class Use>
  void route(int from, int to, Way way, Use&& use) const {
    for (int i = 0; i < dimensions() && from != to; ++i) {
      const int d = way.last_dimension_first ? dimensions() - 1 - i : i;
      const int end = coordinate(to, d);
      int at = coordinate(from, d);
      const int sign = direction(at, end, d, way.direction);
      while (at != end) {
        use(link(from, d, sign));
        const int next = beside(at, d, sign);
        from += (next - at) * stride(d);
        at = next;
      }
    }
  }
  int distance(int from, int to, Way way = {}) const;

 private:
  int stride(int dimension) const { return strides_[static_cast<std::size_t>(dimension)]; }

  std::vector<int> sizes_, strides_;
  std::vector<bool> wraps_;
  int hosts_ = 1;
};

}  // namespace unisono
