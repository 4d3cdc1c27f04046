! The collectives among neighbours in each form, on a ring: each rank receives from the one before it and from itself.
#include "fortran_interface.inc"

module neighbours
  USE_MPI
  use collectives, only: size, requests, tells, ierror
  use calls
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 3, kinds = 5
  integer :: before
  HANDLE(MPI_Comm) :: ring
  integer, asynchronous, target :: in(2 * n, kinds), out(2 * n, kinds)
  ! Of the block from the rank before, and of a rank's own; as many elements are sent as received.
  integer, asynchronous :: counts(2) = [2, 1], twos(2) = 2, displs(2) = [0, n]
  integer(kind=MPI_ADDRESS_KIND), asynchronous :: bytes(2) = [0, 4 * n]
  HANDLE(MPI_Datatype), asynchronous :: types(2)

contains
  subroutine among_neighbours(makes_persistent)
    logical, intent(in) :: makes_persistent
    HANDLE(MPI_Request) :: request
    integer :: form, k
    if (size == 1) return  ! MPI libraries differ where an edge is there twice
    before = modulo(rank - 1, size)
    types = MPI_INTEGER
    ! With weights, for MPI_UNWEIGHTED is another address in MPICH 5 than in MPICH 4.
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [before, rank], [1, 1], 2, [mod(rank + 1, size), rank], [1, 1], &
                                        MPI_INFO_NULL, .false., ring IERROR)
    ! As in the program, for this communicator.
    call MPI_Ibarrier(ring, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call MPI_Barrier(ring IERROR)
    called = called + [1, 1, 0]
    do form = blocking, merge(persistent, nonblocking, makes_persistent)
      in = reshape([(100 * rank + k, k=1, 2 * n * kinds)], shape(in))
      out = -1
      requests(:kinds) = MPI_REQUEST_NULL
      do k = 1, kinds
        call call_one(k, form)
      end do
      if (form == persistent) call MPI_Startall(kinds, requests IERROR)
      call MPI_Waitall(kinds, requests, MPI_STATUSES_IGNORE IERROR)
      do k = 1, kinds
        call see(k)
        if (form == persistent) call MPI_Request_free(requests(k) IERROR)
      end do
    end do
    call MPI_Comm_free(ring IERROR)
  end subroutine

  ! An own block is the second in Alltoall, and what everybody gets in Allgather.
  subroutine see(k)
    integer, intent(in) :: k
    integer :: want(2 * n), length(2), i
    length = n
    if (any(k == [2, 4, 5])) length = counts
    if (k == 2) length = 2
    want = -1
    want(:length(1)) = 100 * before + 2 * n * (k - 1) + [(i, i=1, length(1))]
    i = merge(1, n + 1, k <= 2)
    want(n + 1:n + length(2)) = in(i:i + length(2) - 1, k)
    call check(all(out(:, k) == want), "a collective among neighbours")
  end subroutine

  subroutine call_one(k, form)
    integer, intent(in) :: k, form
    tells = .not. tells
    ierror = merge(-1, MPI_SUCCESS, tells .or. form == persistent)
    called(form) = called(form) + 1
    select case (k)
    case (1)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, ring
      IN_FORM(Neighbor_allgather)
#undef ARGUMENTS
    case (2)
#define ARGUMENTS in(:, k), 2, MPI_INTEGER, out(:, k), twos, displs, MPI_INTEGER, ring
      IN_FORM(Neighbor_allgatherv)
#undef ARGUMENTS
    case (3)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, ring
      IN_FORM(Neighbor_alltoall)
#undef ARGUMENTS
    case (4)
#define ARGUMENTS in(:, k), counts, displs, MPI_INTEGER, out(:, k), counts, displs, MPI_INTEGER, ring
      IN_FORM(Neighbor_alltoallv)
#undef ARGUMENTS
    case (5)
#define ARGUMENTS in(:, k), counts, bytes, types, out(:, k), counts, bytes, types, ring
      IN_FORM(Neighbor_alltoallw)
#undef ARGUMENTS
    end select
    call check(ierror == MPI_SUCCESS, "ierror")
  end subroutine
end module
