! clocks.f90 - a program that times its Alltoalls by system_clock and by the
! calendar.
program clocks
    implicit none
    include 'mpif.h'
    integer :: me, n, ierror, loops, i
    integer(8) :: begin, end, rate
    integer :: early(8), late(8)
    double precision :: wtime
    character(len=16) :: argument
    character, allocatable :: from(:), to(:)

    call get_command_argument(1, argument)
    read (argument, *) loops
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
    allocate (from(1000 * n), to(1000 * n))
    from = 'a'
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call system_clock(begin, rate)
    call exchange()
    call system_clock(end)
    if (me == 0) print '(a,f0.1)', 'system_clock ', &
        dble(end - begin) * 1d9 / dble(rate)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    wtime = MPI_Wtime()
    call exchange()
    wtime = MPI_Wtime() - wtime
    if (me == 0) print '(a,f0.1)', 'wtime ', wtime * 1d9
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call date_and_time(values=early)
    call exchange()
    call date_and_time(values=late)
    late = late - early
    if (me == 0) print '(a,i0,a)', 'date_and_time ', 1000000 * &
        modulo(late(8) + 1000 * (late(7) + 60 * (late(6) + 60 * late(5))), &
               86400000), '.0'
    if (me == 0) print '(a)', 'all is well'
    call MPI_Finalize(ierror)
contains
    subroutine exchange()
        do i = 1, loops
            call MPI_Alltoall(from, 1000, MPI_CHARACTER, to, 1000, &
                              MPI_CHARACTER, MPI_COMM_WORLD, ierror)
        end do
    end subroutine
end program
