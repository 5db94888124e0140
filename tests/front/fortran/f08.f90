! The binding mpi_f08: handles are types, ierror is optional, status is a
! type, and buffers may be array sections or carry a descriptor.
program f08
    use checks
    use mpi_f08
    implicit none
    integer, parameter :: rounds = 5, many = 30000
    type(MPI_Comm) :: comm, half
    type(MPI_Op) :: own
    integer :: rank, ranks, round, total
    double precision, asynchronous :: plenty(many), out(many)
    common /large/ plenty

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call MPI_Op_create(larger_magnitude, .true., own)
    do round = 1, rounds
        call reductions(comm, rank, ranks)
        call movements()
        call on_a_half()
        call point_to_point()
        call messages()
    end do
    call MPI_Op_free(own)
    call MPI_Comm_free(half)
    call MPI_Comm_free(comm)
    call MPI_Reduce(failed, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0 .and. total == 0) print '(a,i0,a)', 'all ', checked, ' hold'
    call MPI_Finalize()
    if (failed > 0) stop 1
contains
    subroutine reductions(comm, rank, ranks)
        type(MPI_Comm), intent(in) :: comm
        integer, intent(in) :: rank, ranks
        integer :: sum, ierr, i
        logical :: any_one
        complex :: c
        double precision :: row(7), big(7)

        call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
        call check(ierr == MPI_SUCCESS, 'Allreduce succeeds')
        call check(sum == ranks * (ranks - 1) / 2, 'Allreduce')

        any_one = rank == ranks - 1
        call MPI_Allreduce(MPI_IN_PLACE, any_one, 1, MPI_LOGICAL, MPI_LOR, &
                           comm)
        call check(any_one, 'LOGICAL or, in place')

        c = cmplx(rank, 1)
        call MPI_Allreduce(MPI_IN_PLACE, c, 1, MPI_COMPLEX, MPI_SUM, comm)
        call check(c == cmplx(ranks * (ranks - 1) / 2, ranks), 'COMPLEX sum')

        plenty = [(dble(i + rank), i = 1, many)]
        call MPI_Allreduce(MPI_IN_PLACE, plenty, many, MPI_DOUBLE_PRECISION, &
                           MPI_MAX, comm)
        call check(all(plenty == [(dble(i + ranks - 1), i = 1, many)]), &
                   'Allreduce of a large COMMON')

        row = (-1) ** rank * (rank + [1, 2, 3, 4, 5, 6, 7])
        call MPI_Allreduce(row, big, 7, MPI_DOUBLE_PRECISION, own, comm)
        call check(all(big == (-1) ** (ranks - 1) &
                       * (ranks - 1 + [1, 2, 3, 4, 5, 6, 7])), 'own operation')

        row = rank + 1
        call MPI_Scan(MPI_IN_PLACE, row, 7, MPI_DOUBLE_PRECISION, MPI_SUM, &
                      comm)
        call check(all(row == (rank + 1) * (rank + 2) / 2), 'Scan in place')
    end subroutine

    subroutine larger_magnitude(a, b, n, kind)
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: a, b
        integer :: n, i
        type(MPI_Datatype) :: kind
        double precision, pointer :: x(:), y(:)
        call c_f_pointer(a, x, [n])
        call c_f_pointer(b, y, [n])
        do i = 1, n
            if (abs(x(i)) > abs(y(i))) y(i) = x(i)
        end do
    end subroutine

    subroutine movements()
        integer :: i, j
        integer :: square(ranks, ranks), columns(ranks, ranks)
        integer :: zero(ranks), starts(ranks), ones(ranks)
        type(MPI_Datatype) :: kinds(ranks), row
        integer(MPI_ADDRESS_KIND) :: extent, lower

        ! A transpose: each rank has a column of blocks.
        square = reshape([(100 * rank + i, i = 1, ranks * ranks)], &
                         [ranks, ranks])
        columns = -1
        call MPI_Alltoall(square, ranks, MPI_INTEGER, columns, ranks, &
                          MPI_INTEGER, comm)
        do j = 1, ranks
            call check(all(columns(:, j) == [(100 * (j - 1) + rank * ranks &
                           + i, i = 1, ranks)]), 'Alltoall')
        end do

        ! The same with rows as derived types, through Alltoallw.
        call MPI_Type_get_extent(MPI_INTEGER, lower, extent)
        call MPI_Type_vector(ranks, 1, ranks, MPI_INTEGER, row)
        call MPI_Type_commit(row)
        kinds = row
        ones = 1
        zero = 0
        starts = [(int(extent) * i, i = 0, ranks - 1)]
        columns = -1
        call MPI_Alltoallw(square, ones, starts, kinds, columns, ones, &
                           starts, kinds, comm)
        do j = 1, ranks
            call check(all(columns(j, :) == [(100 * (j - 1) + 1 + rank &
                           + ranks * i, i = 0, ranks - 1)]), 'Alltoallw')
        end do
        call MPI_Type_free(row)

        columns = -1
        call MPI_Allgather(square(:, 1), ranks, MPI_INTEGER, columns, ranks, &
                           MPI_INTEGER, comm)
        do j = 1, ranks
            call check(all(columns(:, j) == [(100 * (j - 1) + i, &
                           i = 1, ranks)]), 'Allgather of a column')
        end do
        call MPI_Bcast(columns, 0, MPI_INTEGER, 0, comm)
        call check(columns(1, 1) == 1, 'an empty Bcast changes nothing')
        call MPI_Barrier(comm)
    end subroutine

    ! Every second rank, in the opposite order.
    subroutine on_a_half()
        integer :: me, n, first
        call MPI_Comm_rank(half, me)
        call MPI_Comm_size(half, n)
        first = rank
        call MPI_Bcast(first, 1, MPI_INTEGER, 0, half)
        call check(first == rank + 2 * me, 'the highest rank is the first')
        call MPI_Allreduce(MPI_IN_PLACE, me, 1, MPI_INTEGER, MPI_SUM, half)
        call check(me == n * (n - 1) / 2, 'Allreduce on a half')
    end subroutine

    subroutine point_to_point()
        type(MPI_Status) :: status
        type(MPI_Request) :: requests(2)
        integer :: got, n, right, left
        right = mod(rank + 1, ranks)
        left = mod(rank + ranks - 1, ranks)
        call MPI_Irecv(got, 1, MPI_INTEGER, left, 1, comm, requests(1))
        call MPI_Isend(rank, 1, MPI_INTEGER, right, 1, comm, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(got == left, 'Waitall, MPI_STATUSES_IGNORE')
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, left, 2, got, 1, &
                          MPI_INTEGER, right, 2, comm, status)
        call MPI_Get_count(status, MPI_INTEGER, n)
        call check(got == right .and. n == 1 .and. status%MPI_SOURCE == right, &
                   'Sendrecv and its status')
    end subroutine

    ! Messages of many pages: the MPI matches, Straightway moves. Every way to
    ! receive that a Fortran layer may translate by itself.
    subroutine messages()
        integer :: right, left, n, i
        type(MPI_Request) :: requests(2)
        type(MPI_Status) :: status, statuses_2(2)
        logical :: flag
        right = mod(rank + 1, ranks)
        left = mod(rank + ranks - 1, ranks)
        do i = 1, 7
            out = [(rank * 1000.0d0 + i + n, n = 1, many)]
            plenty = -1
            select case (i)
            case (1)
                call MPI_Sendrecv(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                                  plenty, many, MPI_DOUBLE_PRECISION, left, &
                                  3, comm, status)
            case (2)
                call MPI_Irecv(plenty, many, MPI_DOUBLE_PRECISION, &
                               MPI_ANY_SOURCE, 3, comm, requests(1))
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2))
                call MPI_Waitall(2, requests, statuses_2)
                status = statuses_2(1)
            case (3)
                call MPI_Issend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                                comm, requests(2))
                call MPI_Recv(plenty, many, MPI_DOUBLE_PRECISION, left, &
                              MPI_ANY_TAG, comm, status)
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
            case (4)
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2))
                call MPI_Probe(left, 3, comm, status)
                call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n)
                call check(n == many, 'Probe tells the length')
                call MPI_Recv(plenty, many, MPI_DOUBLE_PRECISION, left, 3, &
                              comm, status)
                call MPI_Waitall(1, requests(2:2), MPI_STATUSES_IGNORE)
            case (5)
                call MPI_Recv_init(plenty, many, MPI_DOUBLE_PRECISION, left, &
                                   3, comm, requests(1))
                call MPI_Send_init(out, many, MPI_DOUBLE_PRECISION, right, &
                                   3, comm, requests(2))
                call MPI_Startall(2, requests)
                call MPI_Wait(requests(1), status)
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
                call MPI_Request_free(requests(1))
                call MPI_Request_free(requests(2))
            case (6)
                call MPI_Irecv(plenty, many, MPI_DOUBLE_PRECISION, left, 3, &
                               comm, requests(1))
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2))
                flag = .false.
                do while (.not. flag)
                    call MPI_Test(requests(1), flag, status)
                end do
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
            case (7)
                plenty = out
                call MPI_Sendrecv_replace(plenty, many, &
                                          MPI_DOUBLE_PRECISION, right, 3, &
                                          left, 3, comm, status)
            end select
            call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n)
            call check(n == many .and. status%MPI_SOURCE == left .and. status%MPI_TAG == 3, &
                       'a large message has a true status')
            call check(all(plenty == [(left * 1000.0d0 + i + n, &
                                       n = 1, many)]), 'a large message')
        end do
    end subroutine
end program
