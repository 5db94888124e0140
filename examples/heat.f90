! heat.f90 - the heat equation on a rod, and how fast its sine waves decay.
!
!   mpifort -O2 -o heat examples/heat.f90
!   mpirun -n 2 straightway run ./heat [CELLS [STEPS]]
!
! u_t = u_xx on 0 < x < 1, u = 0 at both ends, by central differences and
! explicit steps. Rank 0 reads the parameters and sends them to all
! (MPI_Bcast); neighbours exchange their edges (MPI_Sendrecv); every step ends
! with the residual, the largest change of all (MPI_Allreduce), as a solver
! does that stops when it is small. At the end rank 0 collects the rod
! (MPI_Gather).
!
! A sine wave sin(pi x) is an eigenvector of the difference equation, so each
! step multiplies it by exactly 1 - 4 r sin^2(pi h / 2), r = dt/h^2: the
! answer is compared with that to round-off, and with the decay rate of the
! equation itself, exp(-pi^2 t), to second order in h. CELLS must be a multiple
! of the number of ranks.
program heat
    use mpi_f08
    use, intrinsic :: iso_fortran_env, only: real64, error_unit
    implicit none

    real(real64), parameter :: pi = acos(-1.0_real64), ratio = 0.25_real64
    integer :: rank, ranks, left, right, cells, steps, mine, i, step
    integer :: parameters(2)
    logical :: good
    real(real64) :: h, time, residual, change, factor, start, elapsed
    real(real64) :: before, communication, discrete, exact
    real(real64), allocatable :: u(:), new(:), rod(:), expected(:)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)

    if (rank == 0) parameters = [argument(1, 4096), argument(2, 20000)]
    call MPI_Bcast(parameters, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    cells = parameters(1)
    steps = parameters(2)
    if (cells < ranks .or. mod(cells, ranks) /= 0 .or. steps < 1) then
        if (rank == 0) write (error_unit, '(a,i0,a)') &
            'usage: heat [CELLS [STEPS]], CELLS a multiple of the ', ranks, &
            ' ranks'
        call MPI_Finalize()
        stop 2
    end if

    mine = cells / ranks
    left = merge(MPI_PROC_NULL, rank - 1, rank == 0)
    right = merge(MPI_PROC_NULL, rank + 1, rank == ranks - 1)
    allocate (u(0:mine + 1), new(0:mine + 1), rod(cells), expected(cells))

    ! Points 1 to cells lie inside; 0 and cells+1 are the ends.
    h = 1.0_real64 / (cells + 1)
    u = 0
    do i = 1, mine
        u(i) = sin(pi * h * (rank * mine + i))
    end do
    new = u
    communication = 0
    residual = 0

    call MPI_Barrier(MPI_COMM_WORLD)
    start = MPI_Wtime()
    do step = 1, steps
        before = MPI_Wtime()
        call MPI_Sendrecv(u(1:1), 1, MPI_DOUBLE_PRECISION, left, 0, &
                          u(mine + 1:mine + 1), 1, MPI_DOUBLE_PRECISION, &
                          right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(u(mine:mine), 1, MPI_DOUBLE_PRECISION, right, 1, &
                          u(0:0), 1, MPI_DOUBLE_PRECISION, left, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        communication = communication + MPI_Wtime() - before
        change = 0
        do i = 1, mine
            new(i) = u(i) + ratio * (u(i - 1) - 2 * u(i) + u(i + 1))
            change = max(change, abs(new(i) - u(i)))
        end do
        u(1:mine) = new(1:mine)
        before = MPI_Wtime()
        call MPI_Allreduce(change, residual, 1, MPI_DOUBLE_PRECISION, &
                           MPI_MAX, MPI_COMM_WORLD)
        communication = communication + MPI_Wtime() - before
    end do
    elapsed = MPI_Wtime() - start

    call MPI_Gather(u(1:mine), mine, MPI_DOUBLE_PRECISION, &
                    rod, mine, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    good = .true.
    if (rank == 0) then
        time = steps * ratio * h**2
        factor = 1 - 4 * ratio * sin(pi * h / 2)**2
        expected = [(sin(pi * h * i), i = 1, cells)]
        discrete = maxval(abs(rod - factor**steps * expected))
        exact = maxval(abs(rod - exp(-pi**2 * time) * expected))
        ! The last step changed the middle of the rod most.
        good = discrete < epsilon(h) * (10 + steps) .and. &
               exact < pi**4 * h**2 * time + 1e-11_real64 .and. &
               abs(residual - (1 - factor) * factor**(steps - 1) &
                   * maxval(expected)) < 1e-14_real64
        write (*, '(a,i0,a,i0,a,i0,a,f0.3,a,f0.3,a)') 'heat: ', cells, &
            ' cells on ', ranks, ' ranks, ', steps, ' steps: ', elapsed, &
            ' s, communication ', communication, ' s'
        write (*, '(a,3es10.2)') &
            'heat: error (discrete, exact), residual ', discrete, exact, &
            residual
        write (*, '(a)') merge('PASS', 'FAIL', good)
    end if
    call MPI_Bcast(good, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (.not. good) stop 1

contains

    integer function argument(number, otherwise)
        integer, intent(in) :: number, otherwise
        character(len=32) :: text
        integer :: status
        argument = otherwise
        if (command_argument_count() < number) return
        call get_command_argument(number, text)
        read (text, *, iostat=status) argument
        if (status /= 0) argument = -1
    end function argument
end program heat
