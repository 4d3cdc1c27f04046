! Collectives in the delete function of an attribute, on the communicator that is freed: see
! conformance/delete_functions.cpp. Through both modules.
module freed
  use mpi
  implicit none
  integer :: comm, deleted = 0

contains
  subroutine sum_up()
    integer :: rank, size, ierror, sum
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, size, ierror)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
    if (sum /= size * (size - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! Open MPI 4.1.4 hands over no communicator, but a number.
  subroutine sum_at_the_end(number, keyval, attribute, extra, ierror)
    integer :: number, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute, extra
    call sum_up()
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

subroutine free_f08(disconnects)
  use freed, only: comm
  use mpi_f08, only: MPI_Comm, MPI_Comm_free, MPI_Comm_disconnect
  implicit none
  logical, intent(in) :: disconnects
  type(MPI_Comm) :: handle
  handle%MPI_VAL = comm
  if (disconnects) call MPI_Comm_disconnect(handle)
  if (.not. disconnects) call MPI_Comm_free(handle)
  comm = handle%MPI_VAL
end subroutine

program fortran_freed
  use freed
  implicit none
  integer :: rank, ierror, key, way, failures
  integer(kind=MPI_ADDRESS_KIND), parameter :: nothing = 0

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_the_end, key, nothing, ierror)
  failures = 0
  do way = 1, 4
    call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, comm, ierror)
    if (rank == 0) call MPI_Comm_set_attr(comm, key, nothing, ierror)
    call sum_up()
    if (rank /= 0) call MPI_Comm_set_attr(comm, key, nothing, ierror)
    if (way == 1) call MPI_Comm_free(comm, ierror)
    if (way == 2) call MPI_Comm_disconnect(comm, ierror)
    if (way > 2) call free_f08(way == 4)
    if (comm /= MPI_COMM_NULL .or. deleted /= way) failures = failures + 1
  end do
  call MPI_Comm_free_keyval(key, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. failures == 0) print '(a)', "passed"
  call MPI_Finalize(ierror)
  if (failures > 0) stop 1
end program
