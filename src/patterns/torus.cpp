#include "patterns/torus.h"

namespace unisono {

Torus::Torus(std::vector<int> sizes, std::vector<bool> wraps)
    : sizes_(std::move(sizes)), wraps_(std::move(wraps)) {
  wraps_.resize(sizes_.size(), true);
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    strides_.push_back(hosts_);
    hosts_ *= sizes_[d];
    if (sizes_[d] <= 2) wraps_[d] = false;
  }
}

int Torus::host(std::span<const int> coordinates) const {
  int host = 0;
  for (std::size_t d = 0; d < coordinates.size(); ++d) host += coordinates[d] * strides_[d];
  return host;
}

std::vector<int> Torus::coordinates(int host) const {
  std::vector<int> found;
  for (int d = 0; d < dimensions(); ++d) found.push_back(coordinate(host, d));
  return found;
}

std::string Torus::text(int host) const {
  std::string written;
  for (const int c : coordinates(host))
    written += (written.empty() ? "(" : ",") + std::to_string(c);
  return written + ")";
}

int Torus::neighbour(int host, int dimension, int sign) const {
  const int n = size(dimension), next = coordinate(host, dimension) + sign;
  if (next >= 0 && next < n) return host + sign * stride(dimension);
  return wraps(dimension) ? host - sign * (n - 1) * stride(dimension) : -1;
}

std::string Torus::text_of_link(LinkId link) const {
  return text(from(link)) + (sign(link) > 0 ? " up" : " down") + " in dimension " +
         std::to_string(dimension(link));
}

int Torus::distance(int from, int to, Way way) const {
  int hops = 0;
  route(from, to, way, [&hops](LinkId) { ++hops; });
  return hops;
}

}  // namespace unisono
