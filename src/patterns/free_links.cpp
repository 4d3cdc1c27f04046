#include "patterns/free_links.h"

namespace unisono {

FreeLinks::FreeLinks(const Torus& torus)
    : ports_(2 * torus.dimensions()),
      to_(static_cast<std::size_t>(torus.links()), -1),
      links_(to_.size()),
      spare_(static_cast<std::size_t>(torus.hosts())),
      all_spare_(spare_.size()) {
  int stride = 1;
  for (int d = 0; d < torus.dimensions(); ++d) {
    const int n = torus.size(d);
    const int hosts = torus.hosts();
    // Hosts of one coordinate come in runs of `stride`.
    for (int run = 0, c = 0; run < hosts; run += stride, c = c + 1 == n ? 0 : c + 1) {
      const int above = c + 1 < n ? stride : torus.wraps(d) ? (1 - n) * stride : 0;
      if (above == 0) continue;
      for (int host = run; host < run + stride; ++host) {
        to_[static_cast<std::size_t>(torus.link(host, d, 1))] = host + above;
        to_[static_cast<std::size_t>(torus.link(host + above, d, -1))] = host;
      }
    }
    stride *= n;
  }
}

void FreeLinks::make_port(LinkId link, End end) {
  const auto l = static_cast<std::size_t>(link);
  if ((links_[l] & end) != 0) return;
  links_[l] |= end;
  add(all_spare_, end == kFrom ? from(link) : to_[l], end, 1);
}

void FreeLinks::reset() {
  for (std::uint8_t& link : links_) link %= kOwned;
  spare_ = all_spare_;
}

void FreeLinks::count(std::size_t link, int change) {
  if ((links_[link] & kFrom) != 0) add(spare_, from(static_cast<LinkId>(link)), kFrom, change);
  if ((links_[link] & kTo) != 0) add(spare_, to_[link], kTo, change);
}

void FreeLinks::take(LinkId link, std::uint8_t owner) {
  links_[static_cast<std::size_t>(link)] |= static_cast<std::uint8_t>(owner * kOwned);
  count(static_cast<std::size_t>(link), -1);
}

void FreeLinks::give_back(std::uint8_t owner) {
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (links_[link] / kOwned != owner) continue;
    links_[link] %= kOwned;
    count(link, 1);
  }
}

}  // namespace unisono
