! What Fortran hands over in its own way: LOGICAL and other types of its own, MPI_BOTTOM, its own operations, error
! codes, sections of arrays.
#include "fortran_interface.inc"

module arguments
  USE_MPI
  use collectives, only: size, ierror
  use calls
  implicit none
  INCLUDE_MPI
  integer, target :: whole(4), each(4)  ! of as many ranks

contains
  subroutine arguments_of_all_kinds()
    HANDLE(MPI_Datatype) :: pair
    call datatypes()
    call absolute_addresses()
    call MPI_Type_contiguous(2, MPI_INTEGER, pair IERROR)
    call MPI_Type_commit(pair IERROR)
    call operations(pair)
    call errors()
#if INTERFACE == 2008
    call sections()
#endif
  end subroutine

  subroutine datatypes()
    logical :: said(3), found(3)
    logical, asynchronous :: later(3)
    real :: small(2)
    double precision :: sums(2), pairs(2)
    complex :: turns
    character(5) :: word, words(size)
    integer :: best(2)
    integer(selected_int_kind(18)) :: bits
    HANDLE(MPI_Request) :: request
    said = [.true., rank == 0, mod(rank, 2) == 0]

    call MPI_Allreduce(said, found, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD IERROR)
    call check(all(found .eqv. [.true., size == 1, size == 1]), "LOGICAL and")
    call MPI_Allreduce(said, found, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD IERROR)
    call check(all(found), "LOGICAL or")
    found = said
    call MPI_Scan(MPI_IN_PLACE, found, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD IERROR)
    call check(all(found .eqv. [mod(rank, 2) == 0, .true., mod(rank / 2, 2) == 0]), "LOGICAL xor")
    later = said
    call MPI_Iallreduce(MPI_IN_PLACE, later, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call check(all(later .eqv. [.true., size == 1, size == 1]), "LOGICAL and, nonblocking")
    call MPI_Bcast(said, 3, MPI_LOGICAL, size - 1, MPI_COMM_WORLD IERROR)
    call check(all(said .eqv. [.true., size == 1, mod(size, 2) == 1]), "LOGICAL")

    small = [0.5, -0.5] * rank
    call MPI_Allreduce(MPI_IN_PLACE, small, 2, MPI_REAL, MPI_MIN, MPI_COMM_WORLD IERROR)
    call check(all(small == [0.0, -0.5 * (size - 1)]), "REAL")
    sums = [0.25d0, 1d0] * rank
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERROR)
    call check(all(sums == [0.125d0, 0.5d0] * size * (size - 1)), "DOUBLE PRECISION")
    turns = (0.0, 1.0)
    call MPI_Allreduce(MPI_IN_PLACE, turns, 1, MPI_COMPLEX, MPI_PROD, MPI_COMM_WORLD IERROR)
    call check(turns == (0.0, 1.0)**size, "COMPLEX")
    bits = ishft(1_8, 40 + rank)
    call MPI_Allreduce(MPI_IN_PLACE, bits, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD IERROR)
    call check(bits == ishft(ishft(1_8, size) - 1, 40), "INTEGER*8")
    best = [mod(rank + 1, size), rank]
    call MPI_Allreduce(MPI_IN_PLACE, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD IERROR)
    call check(all(best == [size - 1, max(size - 2, 0)]), "two INTEGER")
    pairs = [-1d0 * rank, 10d0 * rank]
    call MPI_Allreduce(MPI_IN_PLACE, pairs, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD IERROR)
    call check(all(pairs == [-1d0, 10d0] * (size - 1)), "two DOUBLE PRECISION")
    write (word, '(a,i4.4)') "r", rank
    call MPI_Allgather(word, 5, MPI_CHARACTER, words, 5, MPI_CHARACTER, MPI_COMM_WORLD IERROR)
    call check(words(1) == "r0000" .and. words(rank + 1) == word, "CHARACTER")
    called = called + [11, 1, 0]
  end subroutine

  ! Buffers that datatypes name.
  subroutine absolute_addresses()
    integer(kind=MPI_ADDRESS_KIND) :: address
    integer :: ones(size), zeros(size), all_of_all(4, 0:size - 1), r
    HANDLE(MPI_Datatype) :: absolute, elements(size), places(size)
    HANDLE(MPI_Request) :: request
    ones = 1
    zeros = 0
    call MPI_Get_address(whole, address IERROR)
    call MPI_Type_create_hindexed(1, [4], [address], MPI_INTEGER, absolute IERROR)
    call MPI_Type_commit(absolute IERROR)

    whole = rank + [1, 2, 3, 4]
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, size - 1, MPI_COMM_WORLD IERROR)
    call check(all(whole == size - 1 + [1, 2, 3, 4]), "Bcast of MPI_BOTTOM")
    whole = rank + [1, 2, 3, 4]
    call MPI_Ibcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call check(all(whole == [1, 2, 3, 4]), "Ibcast of MPI_BOTTOM")
    whole = 10 * rank + [1, 2, 3, 4]
    call MPI_Allgather(MPI_BOTTOM, 1, absolute, all_of_all, 4, MPI_INTEGER, MPI_COMM_WORLD IERROR)
    do r = 0, size - 1
      call check(all(all_of_all(:, r) == 10 * r + [1, 2, 3, 4]), "Allgather of MPI_BOTTOM")
    end do
    do r = 1, size
      call MPI_Get_address(whole(r), address IERROR)
      call MPI_Type_create_hindexed(1, [1], [address], MPI_INTEGER, elements(r) IERROR)
      call MPI_Type_commit(elements(r) IERROR)
      call MPI_Get_address(each(r), address IERROR)
      call MPI_Type_create_hindexed(1, [1], [address], MPI_INTEGER, places(r) IERROR)
      call MPI_Type_commit(places(r) IERROR)
    end do
    call MPI_Alltoallw(MPI_BOTTOM, ones, zeros, elements, MPI_BOTTOM, ones, zeros, places, MPI_COMM_WORLD IERROR)
    call check(all(each(:size) == [(10 * r + rank + 1, r=0, size - 1)]), "Alltoallw of MPI_BOTTOM")
    called = called + [3, 1, 0]

    call MPI_Type_free(absolute IERROR)
    do r = 1, size
      call MPI_Type_free(elements(r) IERROR)
      call MPI_Type_free(places(r) IERROR)
    end do
  end subroutine

  ! Operations of the program, which is freed while it is in use, as its datatype is.
  subroutine operations(map)
    HANDLE(MPI_Datatype) :: map
    HANDLE(MPI_Op) :: op
    HANDLE(MPI_Request) :: request
    integer :: own(2), upto(2)
    integer, asynchronous :: total(2)
    call MPI_Op_create(follow, .false., op IERROR)
    own = map_of(rank)
    call MPI_Scan(own, upto, 1, map, op, MPI_COMM_WORLD IERROR)
    call check(all(upto == maps_upto(rank)), "an operation")
    call MPI_Iallreduce(own, total, 1, map, op, MPI_COMM_WORLD, request IERROR)
    call MPI_Op_free(op IERROR)
    call MPI_Type_free(map IERROR)
    call check(op == MPI_OP_NULL, "Op_free")
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call check(all(total == maps_upto(size - 1)), "an operation that is freed")
    called = called + [1, 1, 0]
  end subroutine

  ! x goes to a x + b, modulo 97.
  function map_of(r) result(map)
    integer, intent(in) :: r
    integer :: map(2)
    map = [r + 2, 3 * r + 1]
  end function
  function then(map, next) result(both)
    integer, intent(in) :: map(2), next(2)
    integer :: both(2)
    both = mod([next(1) * map(1), next(1) * map(2) + next(2)], 97)
  end function
  function maps_upto(last) result(map)
    integer, intent(in) :: last
    integer :: map(2), r
    map = map_of(0)
    do r = 1, last
      map = then(map, map_of(r))
    end do
  end function

#if INTERFACE == 2008
  subroutine follow(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:, :), inout(:, :)
    call c_f_pointer(invec, in, [2, len])
    call c_f_pointer(inoutvec, inout, [2, len])
#else
  subroutine follow(in, inout, len, datatype)
    integer :: len, datatype, in(2, len), inout(2, len), i
#endif
    do i = 1, len
      inout(:, i) = then(in(:, i), inout(:, i))
    end do
  end subroutine

  subroutine errors()
    HANDLE(MPI_Comm) :: comm
    integer :: x, class
    x = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm IERROR)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN IERROR)
    call MPI_Bcast(x, 1, MPI_INTEGER, size, comm IERROR)
    call MPI_Bcast(x, 1, MPI_INTEGER, size, comm, ierror)
    call check(ierror /= MPI_SUCCESS, "Bcast from nobody")
    call MPI_Error_class(ierror, class IERROR)
    call check(class == MPI_ERR_ROOT, "an error's class")
    call MPI_Comm_free(comm IERROR)
    called = called + [2, 0, 0]
  end subroutine

#if INTERFACE == 2008
  ! Copies go to the MPI library, or descriptors, by which MPICH's makes datatypes. It makes wrong ones for blocks of
  ! several ranks, and none for reductions.
  subroutine sections()
    type point
      integer :: x, y
      real :: z
    end type
    type(point) :: points(6)
    integer, asynchronous :: line(12)
    integer :: plane(4, 6), found(3, 0:size - 1), back(3), i, r
    type(MPI_Request) :: request
    plane = -1
    if (rank == 0) plane = reshape([(i, i=1, 24)], [4, 6])
    call MPI_Bcast(plane(2:3, 1:6:2), 6, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(plane(2:3, 1:6:2) == reshape([2, 3, 10, 11, 18, 19], [2, 3])), "a plane's section")
    call check(count(plane /= -1) == merge(24, 6, rank == 0), "outside of a plane's section")

    line = -rank
    if (rank == 0) line = [(i, i=1, 12)]
    call MPI_Bcast(line(12:1:-3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(line(12:1:-3) == [12, 9, 6, 3]), "a section backwards")
    if (rank /= 0) call check(count(line == -rank) == 8, "outside of a section backwards")

    points = point(rank, rank, 0.5)
    if (rank == 0) points%y = [(i, i=1, 6)]
    call MPI_Bcast(points%y, 6, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(points%y == [(i, i=1, 6)]) .and. all(points%x == rank), "components")

    line = 100 * rank + [(i, i=1, 12)]
    call MPI_Allgather(line(2:6:2), 3, MPI_INTEGER, found, 3, MPI_INTEGER, MPI_COMM_WORLD)
    do r = 0, size - 1
      call check(all(found(:, r) == 100 * r + [2, 4, 6]), "Allgather of a section")
    end do
    line = -1
    call MPI_Scatter(found, 3, MPI_INTEGER, line(1:5:2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(line(1:6) == [100 * rank + 2, -1, 100 * rank + 4, -1, 100 * rank + 6, -1]), "Scatter into a section")
    call MPI_Gather(line(5:1:-2), 3, MPI_INTEGER, found, 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(found(1, :) == [(100 * r + 6, r=0, size - 1)]), "Gather of a section")

    call of_unknown_size(line)
    back = rank
    call MPI_Bcast(back(2), 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(back == [rank, 0, rank]), "a scalar")
    call MPI_Bcast(back(1:0:2), 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    called = called + [9, 0, 0]

#ifndef OPEN_MPI  ! where MPI_SUBARRAYS_SUPPORTED is false
    line = rank
    if (rank == 0) line = [(i, i=1, 12)]
    call MPI_Ibcast(line(1:12:2), 6, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line(1:12:2) == [1, 3, 5, 7, 9, 11]), "Ibcast of a section")
    ! Another one of the same kind.
    line = merge(rank, -1, rank == size - 1)
    call MPI_Ibcast(line(1:12:3), 4, MPI_INTEGER, size - 1, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line(1:12:3) == size - 1), "Ibcast of another section")
    ! Large counts, which Open MPI has not, either.
    line = rank
    call MPI_Bcast(line, 11_MPI_COUNT_KIND, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Iallreduce(MPI_IN_PLACE, line, 12_MPI_COUNT_KIND, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(line == [(0, i=1, 11), size - 1]), "large counts")
    called = called + [1, 3, 0]
#endif
  end subroutine

  subroutine of_unknown_size(line)
    integer :: line(*)
    line(1:4) = rank
    call MPI_Bcast(line, 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(line(1:4) == [0, 0, 0, rank]), "an array of unknown size")
  end subroutine
#endif
end module
