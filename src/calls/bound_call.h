// From the call as the program made it to the arguments of an algorithm and the memory behind them.
#pragma once
#include <memory>
#include <vector>

#include "calls/call.h"
#include "comm/communicator.h"
#include "exec/execution.h"
#include "schedule/args.h"

namespace unisono {

/// Data that is only moved is counted in bytes of the signature, because ranks may describe the
/// same signature by different datatypes; types that are not dense are packed beforehand and
/// unpacked afterwards. Data that is reduced is counted in elements, which MPI demands to be equal.
class BoundCall {
 public:
  BoundCall(const Call& call, int rank, int size, bool commutative);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  Args args;        ///< without params; spans point into this object
  Binding binding;  ///< without communicator and tags

  /// Packs what the schedule reads and the user's type keeps scattered. An MPI error code.
  int pack_inputs();
  int unpack_outputs();

 private:
  /// One run of elements in the user's memory.
  struct Block {
    std::byte* address = nullptr;  ///< as MPI counts: before true_lb is added
    Count count = 0;
    MPI_Datatype type = MPI_BYTE;
    TypeFacts facts;
    Count bytes() const { return count * facts.size; }
  };
  /// One of the user's two buffers.
  struct Side {
    std::vector<Block> blocks;
    std::vector<Count> counts, displs;  // bytes; irregular collectives
    bool staged = false;                // through packed memory
    std::unique_ptr<std::byte[]> packed;
    std::byte* unit0 = nullptr;
  };

  void prepare_reduction(const Call& call);
  void prepare_movement(const Call& call);
  void one_block(Side& side, const void* buffer, Count count, MPI_Datatype type);
  void prepare_neighbours(const Call& call);
  /// `count_of(i)`, `place_of(i)`: elements in block i, and where it begins.
  template <class CountOf, class PlaceOf>
  void block_per_peer(Side& side, const void* buffer, int blocks, const CountOf& count_of,
                      const PlaceOf& place_of, MPI_Datatype type, const MPI_Datatype* types);
  /// `padded`: bytes that the one block is to have, if it is shorter; the rest is zeros.
  void settle(Side& side, Layout& layout, bool irregular, Count padded = 0);
  /// One buffer serves both sides, and this rank's is the source.
  bool sends_from_output() const {
    return has_one_buffer(semantics(args.collective)) && args.is_root();
  }
  static int pack_block(Side& side, std::size_t i);

  Side send_, recv_;
};

}  // namespace unisono
