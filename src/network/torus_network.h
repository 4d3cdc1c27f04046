// A torus, whose routes senders may choose.
#pragma once
#include <map>
#include <tuple>

#include "network/network.h"
#include "patterns/torus_forest.h"

namespace unisono {

/// Links have the numbers of the torus' own.
class TorusNetwork : public Network {
 public:
  /// Precondition: not Routing::adaptive.
  TorusNetwork(std::shared_ptr<const Torus> torus, Routing routing, const NetworkSpeeds& speeds);

  std::shared_ptr<const Torus> shared_torus() const { return torus_; }
  void route(int from, int to, std::uint8_t way, std::vector<int>& links) const override;
  std::string text_of_link(int link) const override { return torus_->text_of_link(link); }

  /// Routing::source: the message of each edge of tree i takes its own route when its way is
  /// kFirstNamedRoute + i. Precondition: so many ways there are.
  void name_routes(const TorusMembers& members, const TorusForest& forest);

 private:
  std::shared_ptr<const Torus> torus_;
  Routing routing_;
  std::map<std::tuple<std::uint8_t, int, int>, std::vector<LinkId>> named_;  // way, from, to
};

}  // namespace unisono
