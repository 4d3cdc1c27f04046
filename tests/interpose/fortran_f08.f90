! Collectives through `use mpi_f08`: handles are types, ierror may be left out.
program fortran_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer :: rank, size, provided, ierror, failures, i
  integer :: x(4), sum(4)
  integer, allocatable :: all(:), counts(:), displs(:), bytes(:)
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Op) :: op

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  allocate (all(size), counts(size), displs(size), bytes(size), types(size))
  failures = 0
  counts = 1
  displs = [(i, i=0, size - 1)]
  bytes = 4 * displs
  types = MPI_INTEGER

  call MPI_Barrier(MPI_COMM_WORLD)
  x = rank + [1, 2, 3, 4]
  ierror = -1
  call MPI_Bcast(x, 4, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierror)
  if (any(x /= size - 1 + [1, 2, 3, 4]) .or. ierror /= MPI_SUCCESS) call fail("Bcast")

  sum = 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (any(sum /= size)) call fail("Allreduce in place")

  call MPI_Allgatherv(rank, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  if (any(all /= displs)) call fail("Allgatherv")

  all = rank
  call MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD)
  if (any(all /= displs)) call fail("Alltoallw in place")

  call nonblocking()

  call MPI_Op_create(nothing, .true., op)
  call MPI_Op_free(op)
  if (op /= MPI_OP_NULL) call fail("Op_free")

  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. failures == 0) print '(a)', "passed"
  call MPI_Finalize()
  if (failures > 0) stop 1

contains
  ! Twice: the first ones are the MPI library's own, the barrier makes what Unisono needs.
  subroutine nonblocking()
    integer, asynchronous :: y(4), total(4), each(size)
    type(MPI_Request) :: requests(4)
    integer :: round
    do round = 1, 2
      y = rank + [1, 2, 3, 4]
      total = 1
      each = rank
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1))
      call MPI_Ibcast(y, 4, MPI_INTEGER, size - 1, MPI_COMM_WORLD, requests(2))
      call MPI_Iallreduce(MPI_IN_PLACE, total, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3), ierror)
      call MPI_Ialltoallw(MPI_IN_PLACE, counts, bytes, types, each, counts, bytes, types, MPI_COMM_WORLD, requests(4))
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
      if (any(y /= size - 1 + [1, 2, 3, 4])) call fail("Ibcast")
      if (any(total /= size) .or. ierror /= MPI_SUCCESS) call fail("Iallreduce in place")
      if (any(each /= displs)) call fail("Ialltoallw in place")
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
  end subroutine

  subroutine nothing(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
  end subroutine

  subroutine fail(what)
    character(*), intent(in) :: what
    print '(a,i0,a,a)', "rank ", rank, ": wrong result of ", what
    failures = failures + 1
  end subroutine
end program
