! straightway_mpi.f90 - give a block away instead of sending what it holds, from
! Fortran. straightway_mpi.h tells what the calls do; straightway_fortran.c,
! beside this file, tells how to compile.
!
!     use straightway_mpi
!     type(c_ptr) :: block
!     real(8), pointer :: field(:)
!
!     call straightway_alloc(8_c_size_t * n, block, ierror)
!     call c_f_pointer(block, field, [n])
!     field = 1
!     call straightway_give(block, 8_c_size_t * n, 1, 0, MPI_COMM_WORLD, ierror)
!
! `block` is c_null_ptr afterwards, and the program must not use `field`. With
! mpi_f08 the communicator is comm%MPI_VAL. `from` of a take gets the source and
! the tag of the message. The `block` of an itake must be asynchronous (and a
! target, or of a module): its value is there when the request has completed.
module straightway_mpi
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    subroutine straightway_alloc(bytes, block, ierror) &
        bind(C, name="straightway_fortran_alloc")
      import
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out) :: block
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine straightway_free(block) &
        bind(C, name="straightway_fortran_free")
      import
      type(c_ptr), intent(inout) :: block
    end subroutine

    subroutine straightway_give(block, bytes, dest, tag, comm, ierror) &
        bind(C, name="straightway_fortran_give")
      import
      type(c_ptr), intent(inout) :: block
      integer(c_size_t), value :: bytes
      integer(c_int), value :: dest, tag, comm
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine straightway_igive(block, bytes, dest, tag, comm, request, &
        ierror) bind(C, name="straightway_fortran_igive")
      import
      type(c_ptr), intent(inout) :: block
      integer(c_size_t), value :: bytes
      integer(c_int), value :: dest, tag, comm
      integer(c_int), intent(out) :: request, ierror
    end subroutine

    subroutine straightway_itake(block, most, source, tag, comm, request, &
        ierror) bind(C, name="straightway_fortran_itake")
      import
      type(c_ptr), intent(inout), asynchronous :: block
      integer(c_size_t), value :: most
      integer(c_int), value :: source, tag, comm
      integer(c_int), intent(out) :: request, ierror
    end subroutine

    subroutine straightway_take(block, bytes, source, tag, comm, from, &
        ierror) bind(C, name="straightway_fortran_take")
      import
      type(c_ptr), intent(out) :: block
      integer(c_size_t), intent(out) :: bytes
      integer(c_int), value :: source, tag, comm
      integer(c_int), intent(out) :: from(2), ierror
    end subroutine
  end interface
end module
