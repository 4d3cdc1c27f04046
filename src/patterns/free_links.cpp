#include "patterns/free_links.h"

#include <algorithm>

namespace unisono {

FreeLinks::FreeLinks(const Torus& torus)
    : ports_(2 * torus.dimensions()),
      to_(static_cast<std::size_t>(torus.links()), -1),
      owner_(to_.size()),
      port_(to_.size()),
      spare_from_(static_cast<std::size_t>(torus.hosts())),
      spare_to_(spare_from_.size()) {
  for (LinkId link = 0; link < torus.links(); ++link)
    if (torus.exists(link)) to_[static_cast<std::size_t>(link)] = torus.to(link);
}

void FreeLinks::make_port(LinkId link, End end) { port_[static_cast<std::size_t>(link)] |= end; }

void FreeLinks::reset() {
  std::fill(owner_.begin(), owner_.end(), 0);
  std::fill(spare_from_.begin(), spare_from_.end(), 0);
  std::fill(spare_to_.begin(), spare_to_.end(), 0);
  for (std::size_t link = 0; link < port_.size(); ++link) count(link, 1);
}

void FreeLinks::count(std::size_t link, int change) {
  if ((port_[link] & kFrom) != 0) need(from(static_cast<LinkId>(link)), kFrom, -change);
  if ((port_[link] & kTo) != 0) need(to_[link], kTo, -change);
}

void FreeLinks::take(LinkId link, std::uint8_t owner) {
  owner_[static_cast<std::size_t>(link)] = owner;
  count(static_cast<std::size_t>(link), -1);
}

void FreeLinks::give_back(std::uint8_t owner) {
  for (std::size_t link = 0; link < owner_.size(); ++link) {
    if (owner_[link] != owner) continue;
    owner_[link] = 0;
    count(link, 1);
  }
}

}  // namespace unisono
