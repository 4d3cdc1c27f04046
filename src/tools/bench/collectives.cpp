#include "tools/bench/collectives.h"

#include <array>
#include <cassert>

#include "tools/bench/cell.h"

namespace unisono::bench {

const Mpi kProgram = {MPI_Barrier,        MPI_Bcast,
                      MPI_Gather,         MPI_Gatherv,
                      MPI_Scatter,        MPI_Scatterv,
                      MPI_Allgather,      MPI_Allgatherv,
                      MPI_Alltoall,       MPI_Alltoallv,
                      MPI_Alltoallw,      MPI_Reduce,
                      MPI_Allreduce,      MPI_Reduce_scatter_block,
                      MPI_Reduce_scatter, MPI_Scan,
                      MPI_Exscan};

const Mpi kLibrary = {PMPI_Barrier,        PMPI_Bcast,
                      PMPI_Gather,         PMPI_Gatherv,
                      PMPI_Scatter,        PMPI_Scatterv,
                      PMPI_Allgather,      PMPI_Allgatherv,
                      PMPI_Alltoall,       PMPI_Alltoallv,
                      PMPI_Alltoallw,      PMPI_Reduce,
                      PMPI_Allreduce,      PMPI_Reduce_scatter_block,
                      PMPI_Reduce_scatter, PMPI_Scan,
                      PMPI_Exscan};

namespace {

using enum Part;
using enum Holder;

Ranks only(int rank) { return {rank, rank + 1}; }

// Later roots pass on what the first one had.
Expected from_root(const Cell& c, int) { return {only(c.first_root), 0}; }
Expected my_block_from_root(const Cell& c, int) { return {only(c.root), c.displs[c.at(c.rank)]}; }
Expected from_block_owner(const Cell&, int block) { return {only(block), 0}; }
Expected my_block_from_each(const Cell& c, int block) {
  return {only(block), c.displs[c.at(c.rank)]};
}
Expected of_all(const Cell& c, int) { return {{0, c.size}, 0}; }
Expected my_block_of_all(const Cell& c, int) { return {{0, c.size}, c.displs[c.at(c.rank)]}; }
Expected up_to_me(const Cell& c, int) { return {{0, c.rank + 1}, 0}; }
Expected before_me(const Cell& c, int) { return {{0, c.rank}, 0}; }
Expected nothing(const Cell&, int) { return {}; }

// In the order of the enumeration.
constexpr std::array<CollectiveCall, kCollectives> kCalls = {{
    {Collective::barrier, none, every, none, every, true, false, nothing,
     [](const Cell& c, const Mpi& m) { return m.barrier(c.comm); }},
    {Collective::bcast, block, root, block, every, false, false, from_root,
     [](const Cell& c, const Mpi& m) { return m.bcast(c.out, c.count, c.type, c.root, c.comm); }},
    {Collective::gather, block, every, all, root, false, true, from_block_owner,
     [](const Cell& c, const Mpi& m) {
       return m.gather(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm);
     }},
    {Collective::gatherv, block, every, all, root, false, true, from_block_owner,
     [](const Cell& c, const Mpi& m) {
       return m.gatherv(c.in, c.count, c.type, c.out, c.counts.data(), c.displs.data(), c.type,
                        c.root, c.comm);
     }},
    {Collective::scatter, all, root, block, every, false, true, my_block_from_root,
     [](const Cell& c, const Mpi& m) {
       return m.scatter(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.comm);
     }},
    {Collective::scatterv, all, root, block, every, false, true, my_block_from_root,
     [](const Cell& c, const Mpi& m) {
       return m.scatterv(c.in, c.counts.data(), c.displs.data(), c.type, c.out, c.count, c.type,
                         c.root, c.comm);
     }},
    {Collective::allgather, block, every, all, every, true, true, from_block_owner,
     [](const Cell& c, const Mpi& m) {
       return m.allgather(c.in, c.count, c.type, c.out, c.count, c.type, c.comm);
     }},
    {Collective::allgatherv, block, every, all, every, true, true, from_block_owner,
     [](const Cell& c, const Mpi& m) {
       return m.allgatherv(c.in, c.count, c.type, c.out, c.counts.data(), c.displs.data(), c.type,
                           c.comm);
     }},
    {Collective::alltoall, all, every, all, every, true, true, my_block_from_each,
     [](const Cell& c, const Mpi& m) {
       return m.alltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.comm);
     }},
    {Collective::alltoallv, all, every, all, every, true, true, my_block_from_each,
     [](const Cell& c, const Mpi& m) {
       return m.alltoallv(c.in, c.counts.data(), c.displs.data(), c.type, c.out, c.counts.data(),
                          c.displs.data(), c.type, c.comm);
     }},
    {Collective::alltoallw, all, every, all, every, true, true, my_block_from_each,
     [](const Cell& c, const Mpi& m) {
       return m.alltoallw(c.in, c.counts.data(), c.byte_displs.data(), c.types.data(), c.out,
                          c.counts.data(), c.byte_displs.data(), c.types.data(), c.comm);
     }},
    {Collective::reduce, block, every, block, root, false, true, of_all,
     [](const Cell& c, const Mpi& m) {
       return m.reduce(c.in, c.out, c.count, c.type, c.op, c.root, c.comm);
     }},
    {Collective::allreduce, block, every, block, every, true, true, of_all,
     [](const Cell& c, const Mpi& m) {
       return m.allreduce(c.in, c.out, c.count, c.type, c.op, c.comm);
     }},
    {Collective::reduce_scatter_block, all, every, block, every, true, true, my_block_of_all,
     [](const Cell& c, const Mpi& m) {
       return m.reduce_scatter_block(c.in, c.out, c.count, c.type, c.op, c.comm);
     }},
    {Collective::reduce_scatter, all, every, block, every, true, true, my_block_of_all,
     [](const Cell& c, const Mpi& m) {
       return m.reduce_scatter(c.in, c.out, c.counts.data(), c.type, c.op, c.comm);
     }},
    {Collective::scan, block, every, block, every, false, true, up_to_me,
     [](const Cell& c, const Mpi& m) {
       return m.scan(c.in, c.out, c.count, c.type, c.op, c.comm);
     }},
    {Collective::exscan, block, every, block, every, false, true, before_me,
     [](const Cell& c, const Mpi& m) {
       return m.exscan(c.in, c.out, c.count, c.type, c.op, c.comm);
     }},
}};

}  // namespace

const CollectiveCall& call_of(Collective collective) {
  const CollectiveCall& call = kCalls[static_cast<std::size_t>(collective)];
  assert(call.collective == collective);
  return call;
}

}  // namespace unisono::bench
