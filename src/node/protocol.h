// The ways in which the kernels do a collective. Each is an algorithm of the catalogue, shm_<name>.
#pragma once
#include <array>
#include <optional>
#include <string_view>

namespace unisono::node {

enum class Protocol : unsigned char {
  rule,          ///< what the rule chooses (rule.h)
  flags,         ///< a line from each to each
  pipeline,      ///< copied into slots, chunk by chunk, and out of them
  levels,        ///< short: to the leader of a group, between leaders, and back
  direct,        ///< single copies between the ranks' own buffers
  read_all,      ///< who wants the result reads all and reduces for itself
  slices,        ///< every rank reduces a slice of each chunk
  blocks,        ///< every rank reduces its own block
  last_arriver,  ///< the last to come reduces for all
  chain,         ///< from rank to rank
};

/// By the number of the protocol.
inline constexpr std::array<std::string_view, 10> kProtocolNames{
    "shm",          "shm_flags",  "shm_pipeline", "shm_levels",       "shm_direct",
    "shm_read_all", "shm_slices", "shm_blocks",   "shm_last_arriver", "shm_chain"};

/// Of an algorithm's name.
constexpr std::optional<Protocol> protocol_named(std::string_view name) {
  for (std::size_t i = 0; i < kProtocolNames.size(); ++i)
    if (kProtocolNames[i] == name) return static_cast<Protocol>(i);
  return std::nullopt;
}

}  // namespace unisono::node
