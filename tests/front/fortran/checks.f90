! The module that the Fortran programs share counts which checks held and which
! did not. It uses no MPI, so that it serves every binding.
module checks
    implicit none
    integer :: checked = 0, failed = 0
contains
    subroutine check(held, what)
        logical, intent(in) :: held
        character(*), intent(in) :: what
        checked = checked + 1
        if (held) return
        failed = failed + 1
        write (0, '(2a)') 'not so: ', what
    end subroutine
end module
