// One cell of the table: a collective at one size, with its buffers on this rank.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/neighbourhood.h"
#include "tools/bench/collectives.h"
#include "tools/bench/values.h"

namespace unisono::bench {

/// Where the buffers come from. The standard: pages of the rank's own.
struct Memory {
  void* (*allocate)(std::size_t bytes) = nullptr;
  void (*release)(void* p) = nullptr;
};

/// Everything that defines a cell, alike on all ranks.
struct Setting {
  Collective collective = Collective::barrier;
  Count bytes = 0;  ///< as users give it; the documentation says of what
  const ElementType* type = nullptr;
  Operation operation = Operation::sum;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  bool in_turn = false;  ///< every call has the next rank as its root
  bool in_place = false;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  bool one_node = false;                  ///< all ranks are on one
  const NeighbourGraph* graph = nullptr;  ///< of comm; of a collective among neighbours
  Memory memory;

  /// That make up the data.
  int blocks() const {
    return graph != nullptr ? static_cast<int>(graph->of(rank).sources.size()) : size;
  }
};

struct Mismatch {
  Count index;  ///< element of the output buffer
  std::string expected, found;
};

class Cell {
 public:
  /// Why the setting cannot be run ("needs 3 GiB per rank, ..."), or nothing. Alike on all ranks.
  static std::optional<std::string> obstacle(const Setting& setting, Count memory_limit);

  explicit Cell(const Setting& setting);

  /// Writes the contributions of `iteration` into the input and rubbish into the output.
  void prepare(std::uint64_t iteration);
  /// Its first half: whoever contributes has the values in its caches.
  void write_input(std::uint64_t iteration);
  /// The collective, once. Not in place: may be repeated with the same result.
  void run(const Mpi& mpi) const;
  /// The collective so many times; in turn: with one root after the other, from the setting's on.
  void run_in_loop(const Mpi& mpi, int calls);
  /// Whether the last run after prepare(iteration) delivered what it must, element by element.
  std::optional<Mismatch> verify(std::uint64_t iteration) const;

  const CollectiveCall& what;
  const ElementType& element;
  const Operation operation;
  const bool in_place, in_turn;
  const int first_root;

  int root, rank, size;
  int count;  ///< elements of a block of equal blocks; of this rank's block otherwise
  std::vector<int> counts, displs, byte_displs;  ///< of blocks
  std::vector<MPI_Aint> byte_places;             ///< the same, among neighbours
  std::vector<MPI_Datatype> types;
  std::vector<NeighbourGraph::Edge> received;  ///< among neighbours, block by block

  std::size_t at(int rank_index) const { return static_cast<std::size_t>(rank_index); }

 private:
  struct FreeDeleter {
    void operator()(std::byte* p) const;
    void (*release)(void* p);  // null: std::free
  };
  using Buffer = std::unique_ptr<std::byte, FreeDeleter>;

  void place_buffers(bool in_place_here);
  Buffer allocate(Count elements) const;
  Count elements_of(Part part) const;
  bool holds(Holder holder) const { return holder == Holder::every || in_turn || rank == root; }
  std::byte* output() const { return output_.get(); }

  IntArguments arguments_;
  Memory memory_;
  Count input_elements_ = 0, output_elements_ = 0;
  Buffer input_, output_;
  std::byte* contribution_ = nullptr;  // where prepare() writes the input; nullptr: has none
};

}  // namespace unisono::bench
