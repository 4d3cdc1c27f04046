#include "network/network.h"

#include <charconv>
#include <optional>

#include "network/fat_tree.h"
#include "network/torus_network.h"

namespace unisono {

namespace {

constexpr std::int64_t kMostHosts = 1 << 20;

/// "8x8x16m": the numbers; `mark` is told those that have an m behind them. Nothing: no shape.
std::optional<std::vector<int>> sizes(std::string_view text, std::vector<bool>* mark = nullptr) {
  std::vector<int> found;
  std::int64_t product = 1;
  while (true) {
    const auto end = std::min(text.find('x'), text.size());
    std::string_view part = text.substr(0, end);
    const bool is_marked = mark != nullptr && part.ends_with('m');
    if (is_marked) part.remove_suffix(1);
    if (mark != nullptr) mark->push_back(!is_marked);
    int number = 0;
    const auto [last, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc{} || last != part.data() + part.size() || number < 1)
      return std::nullopt;
    found.push_back(number);
    product *= number;
    if (product > kMostHosts) return std::nullopt;
    if (end == text.size()) return found;
    text.remove_prefix(end + 1);
  }
}

std::unique_ptr<Network> fat_tree(std::string_view shape, const NetworkSpeeds& speeds) {
  const auto colon = shape.find(':');
  const auto down = sizes(shape.substr(0, colon));
  if (!down) return nullptr;
  std::vector<int> up(down->begin(), down->end() - 1);
  if (colon != std::string_view::npos) {
    const auto given = sizes(shape.substr(colon + 1));
    if (!given || given->size() + 1 != down->size()) return nullptr;
    up = *given;
  }
  up.insert(up.begin(), 1);
  return std::make_unique<FatTree>(*down, up, speeds);
}

}  // namespace

Result<std::unique_ptr<Network>> make_network(std::string_view text, Routing routing,
                                              const NetworkSpeeds& speeds) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view shape =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  std::unique_ptr<Network> made;
  if (kind == "torus") {
    if (routing == Routing::adaptive)
      return Error{"adaptive routes are not simulated: nobody knows them beforehand"};
    std::vector<bool> wraps;
    if (const auto found = sizes(shape, &wraps))
      made = std::make_unique<TorusNetwork>(std::make_shared<const Torus>(*found, wraps), routing,
                                            speeds);
  } else if (routing != Routing::minimal) {
    return Error{std::string(text) + ": only a torus has other routes than its own"};
  } else if (kind == "fattree") {
    made = fat_tree(shape, speeds);
  } else if (kind == "ethernet") {
    if (const auto found = sizes(shape); found && found->size() == 1)
      made = std::make_unique<Star>(found->front(), speeds);
  }
  if (made == nullptr)
    return Error{"no network '" + std::string(text) +
                 "'; write torus:XxYxZ, fattree:DOWNxDOWN:UP or ethernet:HOSTS"};
  return made;
}

}  // namespace unisono
