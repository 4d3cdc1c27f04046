// What the variables of UNISONO_SHM ask for.
#include "base/size.h"
#include "comm/node_memory.h"

namespace unisono {

Result<std::optional<long long>> parse_node_memory(const std::string& text) {
  if (text == "auto") return std::optional<long long>();
  const auto bytes = parse_size(text);
  if (!bytes || (*bytes != 0 && *bytes < kLeastBytes) || *bytes > kMostBytes)
    return Error{"valid are auto, 0, and sizes from 1M to 32G"};
  return std::optional<long long>(*bytes);
}

Result<std::optional<long long>> parse_probe(const std::string& text) {
  constexpr long long kLeastProbe = 64 << 10;
  if (text == "auto") return std::optional<long long>();
  const auto bytes = parse_size(text);
  if (!bytes || (*bytes != 0 && *bytes < kLeastProbe))
    return Error{"valid are auto, 0, and sizes from 64K on"};
  return std::optional<long long>(*bytes);
}

// Such a ring has slots for the elements of reductions on many ranks, and fits in the arenas of
// few.
Result<std::optional<long long>> parse_ring(const std::string& text) {
  if (text == "auto") return std::optional<long long>();
  const auto bytes = parse_size(text);
  if (!bytes || *bytes < static_cast<long long>(kLeastRing) ||
      *bytes > static_cast<long long>(node::Pool::kLargestArena))
    return Error{"valid are auto and sizes from 16K to 4M"};
  return std::optional<long long>(*bytes);
}

Result<std::optional<node::Store>> parse_store(const std::string& text) {
  if (text == "auto") return std::optional<node::Store>();
  if (text == "plain") return std::optional(node::Store::plain);
  if (text == "nontemporal") return std::optional(node::Store::nontemporal);
  return Error{"valid are auto, plain and nontemporal"};
}

}  // namespace unisono
