! heat.f90 - the heat equation on a plate, and how fast its sine waves decay.
!
!   mpifort -O3 -o heat examples/heat.f90
!   mpirun -n 2 straightway run ./heat [CELLS [STEPS [FIELDS]]]
!
! u_t = a (u_xx + u_yy) on the unit square, u = 0 at its edges, by central
! differences and explicit steps, for FIELDS plates at once: plate k has the
! conductivity a = k / FIELDS. A grid of ranks (MPI_Dims_create,
! MPI_Cart_create) divides the CELLS x CELLS cells of each plate.
!
! A rank's part lies in u(0:nx+1, 0:ny+1, FIELDS), with a halo one cell wide.
! Each step exchanges the halo with the four neighbours (MPI_Irecv, MPI_Isend,
! MPI_Waitall), one message for each, which carries all plates. The program
! packs nothing: subarray types describe the places of the cells.
!
!        ny+1   . o o o o .      west, east: single cells, nx+2 apart, the
!               o x x x x o                  same again in every plate
!               o x x x x o      south, north: a row of nx cells per plate
!           0   . o o o o .
!               0         nx+1   x cells, o halo, . never used
!
! Dimension 1, whose cells are neighbours in memory, is divided first: two
! ranks exchange the single cells.
!
! Rank 0 reads the parameters and sends them to all (MPI_Bcast). Every tenth
! step ends with the residual, the largest change of all (MPI_Allreduce); a
! solver would stop when it is small. At the end rank 0 collects the plates
! (MPI_Gather).
!
! sin(pi x) sin(pi y) is an eigenvector of the difference equation, so each
! step multiplies it by exactly 1 - 8 r sin^2(pi h / 2), r = a dt/h^2. The
! program compares its answer with that to round-off, and with the decay of the
! equation itself, exp(-2 pi^2 a t), to second order in h. CELLS must be a
! multiple of both sides of the grid.
program heat
    use mpi_f08
    use, intrinsic :: iso_fortran_env, only: real64, error_unit
    implicit none

    real(real64), parameter :: pi = acos(-1.0_real64), ratio = 0.125_real64
    integer, parameter :: often = 10
    integer :: rank, ranks, cells, steps, fields, nx, ny, step, i, j, k, part
    integer :: parameters(3), grid(2), place(2), neighbour(4)
    logical :: good, last
    real(real64) :: h, time, tolerance, change, residual, wave
    real(real64) :: start, elapsed, before, communication, discrete, exact
    type(MPI_Comm) :: plane
    type(MPI_Datatype) :: halo(4), edge(4), inner
    real(real64), allocatable :: u(:, :, :), new(:, :, :), spare(:, :, :)
    real(real64), allocatable :: plates(:, :, :, :)
    real(real64), allocatable :: sine(:), r(:), factor(:)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    grid = 0
    call MPI_Dims_create(ranks, 2, grid)

    if (rank == 0) parameters = [argument(1, 256), argument(2, 4000), &
                                 argument(3, 16)]
    call MPI_Bcast(parameters, 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    cells = parameters(1)
    steps = parameters(2)
    fields = parameters(3)
    if (cells < 1 .or. any(mod(cells, grid) /= 0) .or. steps < 1 &
        .or. fields < 1) then
        if (rank == 0) write (error_unit, '(a,i0,a,i0,a)') &
            'usage: heat [CELLS [STEPS [FIELDS]]], CELLS a multiple of ', &
            grid(1), ' and ', grid(2), ', the grid of ranks'
        call MPI_Finalize()
        stop 2
    end if

    call MPI_Cart_create(MPI_COMM_WORLD, 2, grid, [.false., .false.], &
                         .true., plane)
    call MPI_Comm_rank(plane, rank)
    call MPI_Cart_coords(plane, rank, 2, place)
    ! West and east, then south and north; MPI_PROC_NULL beyond the plate.
    call MPI_Cart_shift(plane, 0, 1, neighbour(1), neighbour(2))
    call MPI_Cart_shift(plane, 1, 1, neighbour(3), neighbour(4))

    nx = cells / grid(1)
    ny = cells / grid(2)
    halo = [block([0, 1], [0, ny]), block([nx + 1, 1], [nx + 1, ny]), &
            block([1, 0], [nx, 0]), block([1, ny + 1], [nx, ny + 1])]
    edge = [block([1, 1], [1, ny]), block([nx, 1], [nx, ny]), &
            block([1, 1], [nx, 1]), block([1, ny], [nx, ny])]
    inner = block([1, 1], [nx, ny])

    ! Points 1 to cells lie inside; 0 and cells+1 are the edges.
    h = 1.0_real64 / (cells + 1)
    sine = [(sin(pi * h * i), i = 1, cells)]
    r = [(ratio * k / fields, k = 1, fields)]
    allocate (u(0:nx + 1, 0:ny + 1, fields))
    u = 0
    do j = 1, ny
        do i = 1, nx
            u(i, j, :) = sine(place(1) * nx + i) * sine(place(2) * ny + j)
        end do
    end do
    new = u
    communication = 0
    residual = 0

    call MPI_Barrier(plane)
    start = MPI_Wtime()
    do step = 1, steps
        before = MPI_Wtime()
        call exchange(u)
        communication = communication + MPI_Wtime() - before
        do k = 1, fields
            do j = 1, ny
                do i = 1, nx
                    new(i, j, k) = u(i, j, k) + r(k) * &
                        (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) &
                         + u(i, j + 1, k) - 4 * u(i, j, k))
                end do
            end do
        end do
        last = step == steps
        if (last .or. mod(step, often) == 0) then
            change = maxval(abs(new(1:nx, 1:ny, :) - u(1:nx, 1:ny, :)))
            before = MPI_Wtime()
            call MPI_Allreduce(change, residual, 1, MPI_DOUBLE_PRECISION, &
                               MPI_MAX, plane)
            communication = communication + MPI_Wtime() - before
        end if
        call move_alloc(u, spare)
        call move_alloc(new, u)
        call move_alloc(spare, new)
    end do
    elapsed = MPI_Wtime() - start

    ! The blocks as they are, in the order of ranks.
    allocate (plates(nx, ny, fields, merge(ranks, 0, rank == 0)))
    call MPI_Gather(u, 1, inner, plates, nx * ny * fields, &
                    MPI_DOUBLE_PRECISION, 0, plane)
    good = .true.
    if (rank == 0) then
        time = steps * ratio * h**2
        factor = 1 - 8 * r * sin(pi * h / 2)**2
        tolerance = epsilon(h) * (10 + steps)
        discrete = 0
        exact = 0
        do part = 1, ranks
            call MPI_Cart_coords(plane, part - 1, 2, place)
            do k = 1, fields
                do j = 1, ny
                    do i = 1, nx
                        wave = sine(place(1) * nx + i) &
                             * sine(place(2) * ny + j)
                        discrete = max(discrete, abs(plates(i, j, k, part) &
                            - factor(k)**steps * wave))
                        exact = max(exact, abs(plates(i, j, k, part) &
                            - exp(-2 * pi**2 * time * k / fields) * wave))
                    end do
                end do
            end do
        end do
        ! The last step changed the middle of a plate most.
        change = maxval((1 - factor) * factor**(steps - 1)) * maxval(sine)**2
        good = discrete < tolerance .and. &
               exact < pi**4 * h**2 * time + tolerance .and. &
               abs(residual - change) < tolerance
        write (*, '(5(a,i0),a,i0,2(a,f0.3),a)') 'heat: ', cells, ' x ', &
            cells, ' cells, ', fields, ' fields, on ', grid(1), ' x ', &
            grid(2), ' ranks, ', steps, ' steps: ', elapsed, &
            ' s, communication ', communication, ' s'
        write (*, '(a,3es10.2)') &
            'heat: error (discrete, exact), residual ', discrete, exact, &
            residual
        write (*, '(a)') merge('PASS', 'FAIL', good)
    end if
    call MPI_Bcast(good, 1, MPI_LOGICAL, 0, plane)
    do i = 1, 4
        call MPI_Type_free(halo(i))
        call MPI_Type_free(edge(i))
    end do
    call MPI_Type_free(inner)
    call MPI_Comm_free(plane)
    call MPI_Finalize()
    if (.not. good) stop 1

contains

    ! Cells FROM to TO of u, the same in every plate.
    type(MPI_Datatype) function block(from, to)
        integer, intent(in) :: from(2), to(2)
        call MPI_Type_create_subarray(3, [nx + 2, ny + 2, fields], &
            [to - from + 1, fields], [from, 0], MPI_ORDER_FORTRAN, &
            MPI_DOUBLE_PRECISION, block)
        call MPI_Type_commit(block)
    end function block

    ! Asynchronous, since MPI writes to u until MPI_Waitall returns; but here
    ! only, since gfortran keeps nothing of such an array in registers.
    subroutine exchange(u)
        real(real64), asynchronous, contiguous, intent(inout) :: u(0:, 0:, :)
        type(MPI_Request) :: request(8)
        integer :: side
        do side = 1, 4
            call MPI_Irecv(u, 1, halo(side), neighbour(side), 0, plane, &
                           request(side))
        end do
        do side = 1, 4
            call MPI_Isend(u, 1, edge(side), neighbour(side), 0, plane, &
                           request(4 + side))
        end do
        call MPI_Waitall(8, request, MPI_STATUSES_IGNORE)
    end subroutine exchange

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
