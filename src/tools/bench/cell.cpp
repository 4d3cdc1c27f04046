#include "tools/bench/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

namespace unisono::bench {

namespace {

bool cuts_one_vector(Collective c) { return semantics(c).measure == Measure::blocks; }
bool has_types(Collective c) { return semantics(c).send.shape == SideShape::types; }

/// Elements of rank i's block.
Count block_length(const Setting& s, int i) {
  const Count elements = s.bytes / static_cast<Count>(s.type->bytes);
  if (!cuts_one_vector(s.collective)) return elements;
  const bool longer = is_irregular(s.collective) && i < elements % s.size;
  return elements / s.size + (longer ? 1 : 0);
}

}  // namespace

std::optional<std::string> Cell::obstacle(const Setting& s, Count memory_limit) {
  const CollectiveCall& what = call_of(s.collective);
  if (what.output == Part::none) return std::nullopt;
  const Count block = block_length(s, 0);
  if (block == 0)
    return fmt::format("less than one element{}", cuts_one_vector(s.collective) ? " a rank" : "");
  const auto bytes = static_cast<Count>(s.type->bytes);
  const Count all = block * s.blocks();
  const bool has_blocks = what.input == Part::all || what.output == Part::all;
  if ((has_blocks ? all : block) * (has_types(s.collective) ? bytes : 1) > INT_MAX)
    return "counts or displacements exceed int";
  const Count needed = bytes * ((what.input == Part::all ? all : block) +
                                (what.output == Part::all || s.in_place ? all : block));
  if (needed > memory_limit) return fmt::format("needs {} MiB on a rank (--memory)", needed >> 20);
  return std::nullopt;
}

Cell::Cell(const Setting& s)
    : what(call_of(s.collective)),
      element(*s.type),
      operation(s.operation),
      in_place(s.in_place),
      in_turn(s.in_turn),
      first_root(s.root),
      root(s.root),
      rank(s.rank),
      size(s.size),
      memory_(s.memory) {
  int displacement = 0;
  for (int i = 0; i < s.blocks(); ++i) {
    counts.push_back(static_cast<int>(block_length(s, i)));
    displs.push_back(displacement);
    if (has_types(s.collective)) {
      byte_displs.push_back(displacement * static_cast<int>(element.bytes));
      types.push_back(element.handle());
      displacement += counts.back();
    } else if (what.input == Part::all || what.output == Part::all) {
      displacement += counts.back();
    }
  }
  count = counts[s.graph != nullptr ? 0 : at(rank)];
  byte_places.assign(byte_displs.begin(), byte_displs.end());
  if (s.graph != nullptr) {
    received.resize(counts.size());
    for (const NeighbourGraph::Edge& edge : s.graph->edges())
      if (edge.to == rank) received[at(edge.received)] = edge;
  }

  const MPI_Datatype type = element.handle();
  const int* places = has_types(s.collective) ? byte_displs.data() : displs.data();
  arguments_ = {.sendcount = count,
                .sendcounts = counts.data(),
                .sdispls = places,
                .sdispls_bytes = byte_places.data(),
                .sendtype = type,
                .sendtypes = types.data(),
                .recvcount = count,
                .recvcounts = counts.data(),
                .rdispls = places,
                .rdispls_bytes = byte_places.data(),
                .recvtype = type,
                .recvtypes = types.data(),
                .op = s.op,
                .root = root,
                .comm = s.comm};
  place_buffers(in_place && (!is_rooted(s.collective) || rank == root));
}

void Cell::place_buffers(bool in_place_here) {
  const Semantics& s = semantics(what.collective);
  const Count input = holds(what.input_holder) ? elements_of(what.input) : 0;
  output_elements_ = holds(what.output_holder) ? elements_of(what.output) : 0;
  input_elements_ = input;
  const bool replaces_output = s.in_place == InPlace::root_receive;
  const bool keeps_input = !has_one_buffer(s) && (!in_place_here || replaces_output);

  input_ = allocate(keeps_input ? input : 0);
  output_ = allocate(keeps_input ? output_elements_ : std::max(input, output_elements_));
  arguments_.sendbuf = input_.get();
  arguments_.recvbuf = output_.get();
  contribution_ = input_.get();
  if (has_one_buffer(s)) {
    contribution_ = output_.get();
  } else if (in_place_here && replaces_output) {
    arguments_.recvbuf = MPI_IN_PLACE;  // the root keeps its block where it is
    output_elements_ = 0;
  } else if (in_place_here) {
    arguments_.sendbuf = MPI_IN_PLACE;
    const bool own_block = what.input == Part::block && what.output == Part::all;
    contribution_ = output_.get() + (own_block ? at(displs[at(rank)]) * element.bytes : 0);
  }
}

void Cell::FreeDeleter::operator()(std::byte* p) const {
  release != nullptr ? release(p) : std::free(p);
}

// Page-aligned, as OSU's, and never empty, so that no rank passes a null pointer.
Cell::Buffer Cell::allocate(Count elements) const {
  constexpr std::size_t kPage = 4096;
  const std::size_t bytes =
      (static_cast<std::size_t>(elements) * element.bytes / kPage + 1) * kPage;
  void* const where =
      memory_.allocate != nullptr ? memory_.allocate(bytes) : std::aligned_alloc(kPage, bytes);
  Buffer buffer(static_cast<std::byte*>(where), {memory_.release});
  if (!buffer) throw std::bad_alloc();
  std::memset(buffer.get(), 0, bytes);
  return buffer;
}

Count Cell::elements_of(Part part) const {
  switch (part) {
    case Part::none: return 0;
    case Part::block: return count;
    case Part::all: return Count{displs.back()} + counts.back();
  }
  return 0;
}

void Cell::prepare(std::uint64_t iteration) {
  constexpr int kRubbish = 0xA5;
  std::memset(output_.get(), kRubbish, static_cast<std::size_t>(output_elements_) * element.bytes);
  write_input(iteration);
}

void Cell::write_input(std::uint64_t iteration) {
  if (input_elements_ > 0)
    Pattern(element, operation, {rank, rank + 1}, iteration)
        .write(contribution_, 0, input_elements_);
}

void Cell::run(const Mpi& mpi) const { call_function(mpi, what.collective, arguments_); }

void Cell::run_in_loop(const Mpi& mpi, int calls) {
  for (int i = 0; i < calls; ++i) {
    if (in_turn) arguments_.root = root = (first_root + i) % size;
    run(mpi);
  }
}

std::optional<Mismatch> Cell::verify(std::uint64_t iteration) const {
  if (output_elements_ == 0) return std::nullopt;
  if (what.output_holder == Holder::root && rank != root) return std::nullopt;
  const int blocks = what.output == Part::all ? static_cast<int>(counts.size()) : 1;
  for (int block = 0; block < blocks; ++block) {
    const Expected expected = bench::expected(*this, block);
    if (expected.ranks.first == expected.ranks.last) continue;  // undefined: exscan on rank 0
    const Pattern pattern(element, operation, expected.ranks, iteration);
    const Count begin = what.output == Part::all ? displs[at(block)] : 0;
    const Count length = what.output == Part::all ? counts[at(block)] : count;
    const std::byte* found = output() + static_cast<std::size_t>(begin) * element.bytes;
    if (const auto index = pattern.first_difference(found, expected.start, length))
      return Mismatch{begin + *index, pattern.describe(expected.start + *index),
                      pattern.describe(found + static_cast<std::size_t>(*index) * element.bytes)};
  }
  return std::nullopt;
}

}  // namespace unisono::bench
