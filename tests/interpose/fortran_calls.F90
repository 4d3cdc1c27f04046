! How many collectives a program has called by itself, and how many of them Unisono has seen.
module calls
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: blocking = 1, nonblocking = 2, persistent = 3
  integer :: called(3) = 0, failures = 0, rank = -1

  interface
    function dlsym(handle, name) bind(C)
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function
  end interface
  abstract interface
    subroutine counts_of_unisono(own, native) bind(C)
      import
      integer(c_long_long), intent(out) :: own, native
    end subroutine
  end interface

contains
  logical function has_unisono()
    has_unisono = c_associated(dlsym(c_null_ptr, "unisono_counts"//c_null_char))
  end function

  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(a,i0,a,a)', "rank ", rank, ": wrong result of ", what
    failures = failures + 1
  end subroutine

  subroutine tell()
    procedure(counts_of_unisono), pointer :: counts
    integer(c_long_long) :: own, native
    own = 0
    native = 0
    if (has_unisono()) then
      call c_f_procpointer(dlsym(c_null_ptr, "unisono_counts"//c_null_char), counts)
      call counts(own, native)
    end if
    print '(a,5(i0,a))', "calls: ", called(blocking), " blocking, ", called(nonblocking), " nonblocking, ", &
      called(persistent), " persistent; ", own, " in Unisono, ", native, " not"
  end subroutine
end module
