! All 17 collectives, and 15 of them in place, in each form: blocking, nonblocking and persistent.
#include "fortran_interface.inc"

module collectives
  USE_MPI
  use calls
  implicit none
  INCLUDE_MPI
  integer, parameter :: n = 3
  integer, parameter :: barrier = 1, bcast = 2, gather = 3, gatherv = 4, scatter = 5, scatterv = 6, allgather = 7, &
    allgatherv = 8, alltoall = 9, alltoallv = 10, alltoallw = 11, reduce = 12, allreduce = 13, &
    reduce_scatter_block = 14, reduce_scatter = 15, scan = 16, exscan = 17, in_place = 17, size_of_all = 2 * in_place
  integer :: size, root = 0, round = 0, ierror = MPI_SUCCESS
  logical :: tells = .false.
  ! Of each kind, and of each in place.
  integer, asynchronous, target, allocatable :: in(:, :), out(:, :)
  HANDLE(MPI_Request) :: requests(size_of_all)
  ! What has one entry for a peer: blocks of n, or ragged ones; all of this rank's block length.
  integer, asynchronous, allocatable :: counts(:), ragged(:), mine(:), displs(:), bytes(:)
  HANDLE(MPI_Datatype), asynchronous, allocatable :: types(:)

contains
  subroutine prepare()
    integer :: i
    allocate (in(n * size, size_of_all), out(n * size, size_of_all))
    allocate (counts(size), ragged(size), mine(size), displs(size), bytes(size), types(size))
    counts = n
    ragged = [(1 + mod(i, n), i=0, size - 1)]
    mine = ragged(rank + 1)
    displs = [(n * i, i=0, size - 1)]
    bytes = 4 * displs
    types = MPI_INTEGER
    requests = MPI_REQUEST_NULL
  end subroutine

  elemental integer function element(of_rank, i)
    integer, intent(in) :: of_rank, i
    element = 1000 * of_rank + 10 * i + round
  end function

  logical function is_ragged(k)
    integer, intent(in) :: k
    is_ragged = any(k == [gatherv, scatterv, allgatherv, alltoallv, alltoallw, in_place + gatherv, &
                          in_place + scatterv, in_place + allgatherv])
  end function

  ! Where rank r's block begins, and ends.
  integer function first(r)
    integer, intent(in) :: r
    first = n * r + 1
  end function
  integer function last(k, r)
    integer, intent(in) :: k, r
    last = n * r + merge(ragged(r + 1), n, is_ragged(k))
  end function

  ! A barrier and a broadcast in place.
  logical function is_none(k)
    integer, intent(in) :: k
    is_none = any(k == in_place + [barrier, bcast])
  end function

  subroutine supply(k)
    integer, intent(in) :: k
    integer :: i
    in(:, k) = [(element(rank, i), i=1, n * size)]
    out(:, k) = -1
    select case (k)
    case (bcast)
      if (rank == root) out(:n, k) = in(:n, k)
    case (in_place + gather, in_place + gatherv)
      if (rank == root) out(first(rank):last(k, rank), k) = in(:last(k, rank) - n * rank, k)
    case (in_place + allgather, in_place + allgatherv)
      out(first(rank):last(k, rank), k) = in(:last(k, rank) - n * rank, k)
    case (in_place + alltoall:)
      out(:, k) = in(:, k)
    end select
  end subroutine

  ! What has to be in `out`; -1: as it was, but in place not defined.
  function wanted(k) result(want)
    integer, intent(in) :: k
    integer :: want(n * size), r, i, before, length
    want = -1
    select case (merge(k, k - in_place, k <= in_place))
    case (bcast)
      want(:n) = element(root, [(i, i=1, n)])
    case (gather, gatherv, allgather, allgatherv)
      if (any(k == [gather, gatherv, in_place + gather, in_place + gatherv]) .and. rank /= root) return
      do r = 0, size - 1
        want(first(r):last(k, r)) = element(r, [(i, i=1, last(k, r) - n * r)])
      end do
    case (scatter, scatterv)
      if (k > in_place .and. rank == root) return
      want(:last(k, rank) - n * rank) = element(root, [(i, i=first(rank), last(k, rank))])
    case (alltoall, alltoallv, alltoallw)
      do r = 0, size - 1
        want(first(r):last(k, rank) + n * (r - rank)) = element(r, [(i, i=first(rank), last(k, rank))])
      end do
    case (reduce, allreduce, reduce_scatter_block, reduce_scatter, scan, exscan)
      before = 0
      length = n
      r = size
      select case (merge(k, k - in_place, k <= in_place))
      case (reduce)
        if (rank /= root) return
      case (reduce_scatter_block)
        before = n * rank
      case (reduce_scatter)
        before = sum(ragged(:rank))
        length = ragged(rank + 1)
      case (scan)
        r = rank + 1
      case (exscan)
        r = rank
        if (rank == 0) return
      end select
      want(:length) = 1000 * (r * (r - 1) / 2) + r * (10 * [(before + i, i=1, length)] + round)
    end select
  end function

  subroutine see(k, form)
    integer, intent(in) :: k, form
    character(40) :: what
    integer :: want(n * size)
    want = wanted(k)
    write (what, '(a,i0,a,i0,a,i0)') "collective ", k, " in form ", form, ", root ", root
    call check(all(out(:, k) == want .or. want == -1 .and. (k > in_place .or. k == exscan)), what)
  end subroutine

  ! Calls it, or makes its request. Rooted ones are in place at the root alone.
  subroutine call_one(k, form)
    integer, intent(in) :: k, form
    integer :: which
    which = k
    if (rank /= root .and. any(k == in_place + [gather, gatherv, scatter, scatterv, reduce])) which = k - in_place
    tells = .not. tells
    ierror = merge(-1, MPI_SUCCESS, tells .or. form == persistent)
    called(form) = called(form) + 1
    select case (which)
    case (barrier)
#define ARGUMENTS MPI_COMM_WORLD
      IN_FORM(Barrier)
#undef ARGUMENTS
    case (bcast)
#define ARGUMENTS out(:, k), n, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Bcast)
#undef ARGUMENTS
    case (gather)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Gather)
#undef ARGUMENTS
    case (in_place + gather)
#define ARGUMENTS MPI_IN_PLACE, n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Gather)
#undef ARGUMENTS
    case (gatherv)
#define ARGUMENTS in(:, k), mine(1), MPI_INTEGER, out(:, k), ragged, displs, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Gatherv)
#undef ARGUMENTS
    case (in_place + gatherv)
#define ARGUMENTS MPI_IN_PLACE, mine(1), MPI_INTEGER, out(:, k), ragged, displs, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Gatherv)
#undef ARGUMENTS
    case (scatter)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Scatter)
#undef ARGUMENTS
    case (in_place + scatter)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, MPI_IN_PLACE, n, MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Scatter)
#undef ARGUMENTS
    case (scatterv)
#define ARGUMENTS in(:, k), ragged, displs, MPI_INTEGER, out(:, k), mine(1), MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Scatterv)
#undef ARGUMENTS
    case (in_place + scatterv)
#define ARGUMENTS in(:, k), ragged, displs, MPI_INTEGER, MPI_IN_PLACE, mine(1), MPI_INTEGER, root, MPI_COMM_WORLD
      IN_FORM(Scatterv)
#undef ARGUMENTS
    case (allgather)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Allgather)
#undef ARGUMENTS
    case (in_place + allgather)
#define ARGUMENTS MPI_IN_PLACE, 0, MPI_INTEGER, out(:, k), n, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Allgather)
#undef ARGUMENTS
    case (allgatherv)
#define ARGUMENTS in(:, k), mine(1), MPI_INTEGER, out(:, k), ragged, displs, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Allgatherv)
#undef ARGUMENTS
    case (in_place + allgatherv)
#define ARGUMENTS MPI_IN_PLACE, 0, MPI_INTEGER, out(:, k), ragged, displs, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Allgatherv)
#undef ARGUMENTS
    case (alltoall)
#define ARGUMENTS in(:, k), n, MPI_INTEGER, out(:, k), n, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Alltoall)
#undef ARGUMENTS
    case (in_place + alltoall)
#define ARGUMENTS MPI_IN_PLACE, 0, MPI_INTEGER, out(:, k), n, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Alltoall)
#undef ARGUMENTS
    case (alltoallv)
#define ARGUMENTS in(:, k), ragged, displs, MPI_INTEGER, out(:, k), mine, displs, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Alltoallv)
#undef ARGUMENTS
    case (in_place + alltoallv)
#define ARGUMENTS MPI_IN_PLACE, counts, displs, MPI_INTEGER, out(:, k), counts, displs, MPI_INTEGER, MPI_COMM_WORLD
      IN_FORM(Alltoallv)
#undef ARGUMENTS
    case (alltoallw)
#define ARGUMENTS in(:, k), ragged, bytes, types, out(:, k), mine, bytes, types, MPI_COMM_WORLD
      IN_FORM(Alltoallw)
#undef ARGUMENTS
    case (in_place + alltoallw)
#define ARGUMENTS MPI_IN_PLACE, counts, bytes, types, out(:, k), counts, bytes, types, MPI_COMM_WORLD
      IN_FORM(Alltoallw)
#undef ARGUMENTS
    case (reduce)
#define ARGUMENTS in(:, k), out(:, k), n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD
      IN_FORM(Reduce)
#undef ARGUMENTS
    case (in_place + reduce)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD
      IN_FORM(Reduce)
#undef ARGUMENTS
    case (allreduce)
#define ARGUMENTS in(:, k), out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Allreduce)
#undef ARGUMENTS
    case (in_place + allreduce)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Allreduce)
#undef ARGUMENTS
    case (reduce_scatter_block)
#define ARGUMENTS in(:, k), out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Reduce_scatter_block)
#undef ARGUMENTS
    case (in_place + reduce_scatter_block)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Reduce_scatter_block)
#undef ARGUMENTS
    case (reduce_scatter)
#define ARGUMENTS in(:, k), out(:, k), ragged, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Reduce_scatter)
#undef ARGUMENTS
    case (in_place + reduce_scatter)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), ragged, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Reduce_scatter)
#undef ARGUMENTS
    case (scan)
#define ARGUMENTS in(:, k), out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Scan)
#undef ARGUMENTS
    case (in_place + scan)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Scan)
#undef ARGUMENTS
    case (exscan)
#define ARGUMENTS in(:, k), out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Exscan)
#undef ARGUMENTS
    case (in_place + exscan)
#define ARGUMENTS MPI_IN_PLACE, out(:, k), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD
      IN_FORM(Exscan)
#undef ARGUMENTS
    end select
    call check(ierror == MPI_SUCCESS, "ierror")
  end subroutine

  ! In one of the ways that MPI has.
  subroutine complete(way)
    integer, intent(in) :: way
    integer :: k
    logical :: done
    if (way == 1) call MPI_Waitall(size_of_all, requests, MPI_STATUSES_IGNORE IERROR)
    do k = size_of_all, 1, -1
      if (way == 2) call MPI_Wait(requests(k), MPI_STATUS_IGNORE IERROR)
      done = way /= 3
      do while (.not. done)
        call MPI_Test(requests(k), done, MPI_STATUS_IGNORE IERROR)
      end do
    end do
  end subroutine

  subroutine in_blocking_form()
    integer :: k
    do k = 1, size_of_all
      if (is_none(k)) cycle
      call supply(k)
      call call_one(k, blocking)
      call see(k, blocking)
    end do
  end subroutine

  ! All in flight at once.
  subroutine in_nonblocking_form(way)
    integer, intent(in) :: way
    integer :: k
    do k = 1, size_of_all
      if (is_none(k)) cycle
      call supply(k)
      call call_one(k, nonblocking)
    end do
    call complete(way)
    do k = 1, size_of_all
      if (.not. is_none(k)) call see(k, nonblocking)
    end do
  end subroutine

  subroutine in_persistent_form()
    integer, parameter :: rest = in_place + bcast + 1
    integer :: k
    do k = 1, size_of_all
      if (.not. is_none(k)) call call_one(k, persistent)
    end do
    do round = 1, 3
      do k = 1, size_of_all
        call supply(k)
      end do
      if (round == 1) then
        call MPI_Startall(in_place, requests IERROR)
        call MPI_Startall(size_of_all - rest + 1, requests(rest:) IERROR)
      else
        do k = 1, size_of_all
          if (.not. is_none(k)) call MPI_Start(requests(k) IERROR)
        end do
      end if
      call complete(round)
      do k = 1, size_of_all
        if (.not. is_none(k)) call see(k, persistent)
      end do
    end do
    round = 0
    do k = 1, size_of_all
      if (is_none(k)) cycle
      call MPI_Request_free(requests(k) IERROR)
      call check(requests(k) == MPI_REQUEST_NULL, "Request_free")
    end do
  end subroutine
end module
