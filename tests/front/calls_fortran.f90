! A Fortran program that names a region, as docs/profile.md shows.
program calls_fortran
  use iso_c_binding, only: c_null_char
  implicit none
  interface
    subroutine region_begin(name) bind(C, name="region_begin")
      use iso_c_binding, only: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
  call region_begin("solve" // c_null_char)
end program
