// Parameters of an algorithm as people write them: "segment=64K".
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/catalogue.h"
#include "base/printable.h"

namespace unisono {

/// The values of transport=, the default first.
inline constexpr std::array<std::string_view, 2> kTransportNames = {"mpi", "shm"};

/// Whether it takes transport=: the kernels of a node send no messages.
bool sends_messages(const Algorithm& algorithm);

/// Reads one "name=value" into `params`; the error, or nothing.
std::optional<std::string> read_parameter(const Algorithm& algorithm, std::string_view item,
                                          Params& params);

/// Every parameter of the algorithm that has a value, each with `separator` before it but the
/// first, which has `opening`.
std::string parameters_text(const Algorithm& algorithm, const Params& params, char opening,
                            char separator);

/// The names of a collective's algorithms, each with ", " before it.
std::string algorithm_names(Collective collective);

}  // namespace unisono
