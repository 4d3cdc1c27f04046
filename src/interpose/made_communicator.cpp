// What makes a communicator, or something that has one inside: see comm/making.h. MPI_Comm_idup on
// whatever way: Open MPI's Fortran libraries call PMPI_* (see freed_communicator.cpp). The others,
// which matter to programs with threads, as C programs call them: Unisono itself calls their
// PMPI_*.
#include <mpi.h>

#ifdef OPEN_MPI
#include "comm/making.h"
#include "interpose/entry.h"
#include "interpose/next.h"

using namespace unisono;

#define MAKES(name, parameters, arguments)              \
  ENTRY int name parameters {                           \
    const ProgramMakes makes;                           \
    return Next<#name, decltype(name)>::call arguments; \
  }
#define DUPLICATES(name, parameters, arguments)         \
  ENTRY int name parameters {                           \
    note_duplicating();                                 \
    return Next<#name, decltype(name)>::call arguments; \
  }

DUPLICATES(MPI_Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request),
           (comm, made, request))
DUPLICATES(PMPI_Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request),
           (comm, made, request))
DUPLICATES(MPI_Comm_idup_with_info,
           (MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request),
           (comm, info, made, request))
DUPLICATES(PMPI_Comm_idup_with_info,
           (MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request),
           (comm, info, made, request))

MAKES(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
MAKES(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
MAKES(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
MAKES(MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
      (comm, group, tag, made))
MAKES(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
MAKES(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
      (comm, type, key, info, made))
MAKES(MPI_Cart_create,
      (MPI_Comm comm, int dims, const int lengths[], const int periods[], int reorder,
       MPI_Comm* made),
      (comm, dims, lengths, periods, reorder, made))
MAKES(MPI_Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made), (comm, remain, made))
MAKES(MPI_Graph_create,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made),
      (comm, nodes, index, edges, reorder, made))
MAKES(MPI_Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int targets[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (comm, n, sources, degrees, targets, weights, info, reorder, made))
MAKES(MPI_Dist_graph_create_adjacent,
      (MPI_Comm comm, int indegree, const int sources[], const int source_weights[], int outdegree,
       const int targets[], const int target_weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (comm, indegree, sources, source_weights, outdegree, targets, target_weights, info, reorder,
       made))
MAKES(MPI_Intercomm_create,
      (MPI_Comm local, int leader, MPI_Comm bridge, int remote, int tag, MPI_Comm* made),
      (local, leader, bridge, remote, tag, made))
MAKES(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made))
MAKES(MPI_Win_allocate_shared,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
      (size, unit, info, comm, base, made))
MAKES(MPI_File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* made),
      (comm, name, mode, info, made))
#endif  // OPEN_MPI
