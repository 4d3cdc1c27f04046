#include "comm/share_segment.h"

#include <array>

#include "mpi/comm.h"

namespace unisono {

namespace {

struct Ticket {
  unsigned long long bytes = 0;
  std::array<char, 64> name{};  // empty: there is none
};

void tell(MPI_Comm comm, Ticket& ticket) {
  PMPI_Bcast(&ticket, static_cast<int>(sizeof ticket), MPI_BYTE, 0, comm);
}

}  // namespace

Result<node::Segment> share_segment(MPI_Comm comm, std::size_t bytes) {
  Ticket ticket;
  if (rank_in(comm) != 0) {
    tell(comm, ticket);
    if (ticket.name[0] == '\0') return Error{""};
    return node::Segment::open(ticket.name.data(), ticket.bytes);
  }
  auto segment = node::Segment::create(bytes);
  if (segment) {
    ticket.bytes = bytes;
    segment->name().copy(ticket.name.data(), ticket.name.size() - 1);
  }
  tell(comm, ticket);
  return segment;
}

}  // namespace unisono
