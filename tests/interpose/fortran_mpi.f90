! Collectives through `use mpi`: handles are integers, MPI_IN_PLACE and MPI_BOTTOM are variables.
program fortran_mpi
  use mpi
  implicit none
  integer :: rank, size, ierror, failures, i, address_type, op
  integer(kind=MPI_ADDRESS_KIND) :: address
  integer :: x(4), sum(4)
  integer, allocatable :: all(:), counts(:), displs(:), bytes(:), types(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (all(size), counts(size), displs(size), bytes(size), types(size))
  failures = 0
  counts = 1
  displs = [(i, i=0, size - 1)]
  bytes = 4 * displs
  types = MPI_INTEGER

  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  x = rank + [1, 2, 3, 4]
  call MPI_Bcast(x, 4, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierror)
  call check(all_equal(x, size - 1 + [1, 2, 3, 4]), "Bcast")

  sum = 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all_equal(sum, [size, size, size, size]), "Allreduce in place")

  all = 0
  call MPI_Gatherv(rank, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) call check(all_equal(all, displs), "Gatherv")

  all = rank
  call MPI_Alltoallw(all, counts, bytes, types, counts, counts, bytes, types, MPI_COMM_WORLD, ierror)
  call check(all_equal(counts, displs), "Alltoallw")
  counts = 1

  ! The buffer is named by its absolute address in the datatype.
  x = rank
  call MPI_Get_address(x, address, ierror)
  call MPI_Type_create_hindexed(1, [4], [address], MPI_INTEGER, address_type, ierror)
  call MPI_Type_commit(address_type, ierror)
  call MPI_Bcast(MPI_BOTTOM, 1, address_type, size - 1, MPI_COMM_WORLD, ierror)
  call look_again(x)
  call check(all_equal(x, [(size - 1, i=1, 4)]), "Bcast from MPI_BOTTOM")
  call MPI_Type_free(address_type, ierror)

  call MPI_Scan(rank, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(i == rank * (rank + 1) / 2, "Scan")

  call nonblocking()

  call MPI_Op_create(nothing, .true., op, ierror)
  call MPI_Op_free(op, ierror)
  call check(op == MPI_OP_NULL .and. ierror == MPI_SUCCESS, "Op_free")

  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. failures == 0) print '(a)', "passed"
  call MPI_Finalize(ierror)
  if (failures > 0) stop 1

contains
  ! Twice: the first ones are the MPI library's own, the barrier makes what Unisono needs.
  subroutine nonblocking()
    integer, asynchronous :: y(4), total(4), each(size)
    integer :: requests(4), round
    do round = 1, 2
      y = rank + [1, 2, 3, 4]
      total = 1
      each = rank
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
      call MPI_Ibcast(y, 4, MPI_INTEGER, size - 1, MPI_COMM_WORLD, requests(2), ierror)
      call MPI_Iallreduce(MPI_IN_PLACE, total, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3), ierror)
      call MPI_Ialltoallw(MPI_IN_PLACE, counts, bytes, types, each, counts, bytes, types, MPI_COMM_WORLD, &
                          requests(4), ierror)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
      call check(all_equal(y, size - 1 + [1, 2, 3, 4]), "Ibcast")
      call check(all_equal(total, [size, size, size, size]), "Iallreduce in place")
      call check(all_equal(each, displs), "Ialltoallw in place")
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end do
  end subroutine

  subroutine nothing(invec, inoutvec, len, datatype)
    integer :: len, invec(len), inoutvec(len), datatype
  end subroutine

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = .not. any(a /= b)
  end function

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(a,i0,a,a)', "rank ", rank, ": wrong result of ", what
    failures = failures + 1
  end subroutine

  ! The compiler cannot know that MPI changed it.
  subroutine look_again(a)
    integer, volatile, intent(inout) :: a(:)
    a(1) = a(1)
  end subroutine
end program
