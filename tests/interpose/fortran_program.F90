! Collectives through one of Fortran's interfaces: results are checked, and calls counted.
!
!   mpiexec -n P fortran_INTERFACE [persistent]
#include "fortran_interface.inc"

program fortran_program
  use collectives
  use arguments, only: arguments_of_all_kinds
  use neighbours, only: among_neighbours
  implicit none
  integer :: provided, way
  HANDLE(MPI_Request) :: request

#if INTERFACE == 77
  call MPI_Init(ierror)
#else
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided IERROR)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
  call MPI_Comm_size(MPI_COMM_WORLD, size IERROR)
  call prepare()

  ! The first nonblocking one is the MPI library's own, the barrier makes what Unisono needs.
  call MPI_Ibarrier(MPI_COMM_WORLD, request IERROR)
  call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
  called(nonblocking) = called(nonblocking) + 1
  do root = 0, size - 1
    call in_blocking_form()
  end do
  do way = 1, 3
    root = mod(way, size)
    call in_nonblocking_form(way)
  end do
  if (command_argument_count() == 1) call in_persistent_form()
  root = 0
  call arguments_of_all_kinds()
  call among_neighbours(command_argument_count() == 1)

  if (rank == 0) call tell()
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
  if (rank == 0 .and. failures == 0) print '(a)', "passed"
  call MPI_Finalize(ierror)
  if (failures > 0) stop 1
end program
