// Collectives of whole communicators by one or several butterflies, each for its share of the
// vector, or of every block. All butterflies are of one lattice and one form.
#pragma once
#include <span>
#include <vector>

#include "patterns/butterfly.h"
#include "patterns/exchange_run.h"

namespace unisono {

/// Reduce-scatter and allgather: 2 (p - 1) / p of the vector, for ranks that work; those that leave
/// their work to others send and receive m.
void parts_allreduce(Builder& b, std::span<const Butterfly> butterflies);
/// Steps with whole vectors.
void whole_allreduce(Builder& b, std::span<const Butterfly> butterflies);
/// The same for steps made elsewhere, one list for each share of the vector, in which all work.
void whole_allreduce(Builder& b, std::span<const std::vector<WholeExchange>> steps);

void parts_reduce_scatter(Builder& b, std::span<const Butterfly> butterflies);
void parts_allgather(Builder& b, std::span<const Butterfly> butterflies);

}  // namespace unisono
