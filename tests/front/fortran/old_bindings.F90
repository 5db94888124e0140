! The two old bindings: mpif.h, and with -DUSE_MPI the module mpi.
!
! Fortran hands MPI what C never does: sentinels that are variables of a
! COMMON block (MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE), LOGICAL values
! that are not C's, operations written in Fortran, buffers in COMMON. Each
! subroutine tries one of these. It checks every result in full, and more than
! once: Straightway may serve a communicator differently after its first calls.
program old_bindings
    use checks
#ifdef USE_MPI
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer, parameter :: rounds = 5, many = 20000
    integer :: rank, ranks, ierr, round, comm, total

    ! Buffers in COMMON: static data, one small and one of many pages.
    integer :: few(8)
    double precision :: plenty(many), out(many)
    common /small/ few
    common /large/ plenty

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    do round = 1, rounds
        call commons()
        call in_place()
        call types()
        call pairs()
        call own_operation()
        call vectors()
        call bottom()
        call statuses()
        call messages()
    end do
    call MPI_Comm_free(comm, ierr)
    call MPI_Reduce(failed, total, 1, MPI_INTEGER, MPI_SUM, 0, &
                    MPI_COMM_WORLD, ierr)
    if (rank == 0 .and. total == 0) print '(a,i0,a)', 'all ', checked, ' hold'
    call MPI_Finalize(ierr)
    if (failed > 0) stop 1
contains
    ! The sum of f(r) = r over all ranks, and of r + 1.
    integer function below(n)
        integer, intent(in) :: n
        below = n * (n - 1) / 2
    end function

    subroutine commons()
        integer :: i
        few = -1
        if (rank == 0) few = [(i * round, i = 1, 8)]
        call MPI_Bcast(few, 8, MPI_INTEGER, 0, comm, ierr)
        call check(ierr == MPI_SUCCESS, 'Bcast from COMMON succeeds')
        call check(all(few == [(i * round, i = 1, 8)]), 'Bcast in COMMON')

        plenty = -1
        if (rank == ranks - 1) plenty = [(0.5d0 * i + round, i = 1, many)]
        call MPI_Bcast(plenty, many, MPI_DOUBLE_PRECISION, ranks - 1, comm, &
                       ierr)
        call check(all(plenty == [(0.5d0 * i + round, i = 1, many)]), &
                   'Bcast of a large COMMON')

        plenty = rank + round
        call MPI_Allreduce(MPI_IN_PLACE, plenty, many, &
                           MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierr)
        call check(all(plenty == below(ranks) + ranks * round), &
                   'Allreduce in place in a large COMMON')
    end subroutine

    subroutine in_place()
        integer :: i, one(3), all_of(3 * ranks), want(3 * ranks)
        want = [((10 * i + [1, 2, 3]), i = 0, ranks - 1)]

        one = 3 * rank
        call MPI_Allreduce(MPI_IN_PLACE, one, 3, MPI_INTEGER, MPI_MAX, comm, &
                           ierr)
        call check(all(one == 3 * (ranks - 1)), 'Allreduce MPI_IN_PLACE')

        one = rank + 1
        if (rank == 0) then
            call MPI_Reduce(MPI_IN_PLACE, one, 3, MPI_INTEGER, MPI_SUM, 0, &
                            comm, ierr)
            call check(all(one == below(ranks) + ranks), &
                       'Reduce MPI_IN_PLACE at the root')
        else
            call MPI_Reduce(one, i, 3, MPI_INTEGER, MPI_SUM, 0, comm, ierr)
            call check(all(one == rank + 1), 'Reduce keeps its input')
        end if

        all_of = -1
        all_of(3 * rank + 1 : 3 * rank + 3) = 10 * rank + [1, 2, 3]
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 3, &
                           MPI_INTEGER, comm, ierr)
        call check(all(all_of == want), 'Allgather MPI_IN_PLACE')

        if (rank == 0) then
            all_of(4:) = -1
            call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 3, &
                            MPI_INTEGER, 0, comm, ierr)
            call check(all(all_of == want), 'Gather MPI_IN_PLACE at the root')
            call MPI_Scatter(all_of, 3, MPI_INTEGER, MPI_IN_PLACE, 3, &
                             MPI_INTEGER, 0, comm, ierr)
            call check(all(all_of == want), 'Scatter MPI_IN_PLACE')
        else
            one = 10 * rank + [1, 2, 3]
            call MPI_Gather(one, 3, MPI_INTEGER, i, 0, MPI_INTEGER, 0, comm, &
                            ierr)
            one = -1
            call MPI_Scatter(i, 0, MPI_INTEGER, one, 3, MPI_INTEGER, 0, &
                             comm, ierr)
            call check(all(one == 10 * rank + [1, 2, 3]), 'Scatter')
        end if

        all_of = [((100 * rank + i), i = 1, 3 * ranks)]
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 3, &
                          MPI_INTEGER, comm, ierr)
        want = [((100 * i + 3 * rank + [1, 2, 3]), i = 0, ranks - 1)]
        call check(all(all_of == want), 'Alltoall MPI_IN_PLACE')

        one = rank + 1
        call MPI_Scan(MPI_IN_PLACE, one, 3, MPI_INTEGER, MPI_SUM, comm, ierr)
        call check(all(one == below(rank + 1) + rank + 1), &
                   'Scan MPI_IN_PLACE')
        one = rank + 1
        call MPI_Exscan(MPI_IN_PLACE, one, 3, MPI_INTEGER, MPI_SUM, comm, ierr)
        if (rank > 0) call check(all(one == below(rank) + rank), &
                                 'Exscan MPI_IN_PLACE')

        all_of = [((i + rank), i = 1, 3 * ranks)]
        call MPI_Reduce_scatter_block(MPI_IN_PLACE, all_of, 3, MPI_INTEGER, &
                                      MPI_SUM, comm, ierr)
        call check(all(all_of(1:3) == ranks * (3 * rank + [1, 2, 3]) &
                       + below(ranks)), 'Reduce_scatter_block MPI_IN_PLACE')
    end subroutine

    subroutine types()
        logical :: mine(4), ours(4)
        real :: single(5), sums(5)
        complex :: c, csum
        complex(kind(1d0)) :: z(2), zprod(2), want
        character(11) :: word
        character(5), allocatable :: words(:)
        integer :: i
        integer(8) :: long, longest
        logical :: odd_rank

        odd_rank = mod(rank, 2) == 1
        mine = [.true., .false., rank == 0, odd_rank]
        call MPI_Allreduce(mine, ours, 4, MPI_LOGICAL, MPI_LAND, comm, ierr)
        call check(all(ours .eqv. [.true., .false., ranks == 1, .false.]), &
                   'LOGICAL and')
        call MPI_Allreduce(mine, ours, 4, MPI_LOGICAL, MPI_LOR, comm, ierr)
        call check(all(ours .eqv. [.true., .false., .true., ranks > 1]), &
                   'LOGICAL or')
        call MPI_Allreduce(mine, ours, 4, MPI_LOGICAL, MPI_LXOR, comm, ierr)
        call check(all(ours .eqv. [mod(ranks, 2) == 1, .false., .true., &
                                   mod(ranks / 2, 2) == 1]), 'LOGICAL xor')

        single = rank * [1., 2., 3., 4., 5.] + 0.5
        call MPI_Allreduce(single, sums, 5, MPI_REAL, MPI_SUM, comm, ierr)
        call check(all(sums == below(ranks) * [1., 2., 3., 4., 5.] &
                       + 0.5 * ranks), 'REAL sum')
        call MPI_Allreduce(single, sums, 5, MPI_REAL, MPI_MIN, comm, ierr)
        call check(all(sums == 0.5), 'REAL min')

        c = cmplx(rank, -round)
        call MPI_Allreduce(c, csum, 1, MPI_COMPLEX, MPI_SUM, comm, ierr)
        call check(csum == cmplx(below(ranks), -round * ranks), 'COMPLEX sum')
        z = [(0d0, 1d0), (1d0, 1d0)]
        call MPI_Allreduce(z, zprod, 2, MPI_DOUBLE_COMPLEX, MPI_PROD, comm, &
                           ierr)
        want = (0d0, 1d0) ** ranks
        call check(abs(zprod(1) - want) < 1d-12, 'DOUBLE COMPLEX product')
        want = (1d0, 1d0) ** ranks
        call check(abs(zprod(2) - want) < 1d-9, 'DOUBLE COMPLEX product 2')

        word = 'nobody yet'
        if (rank == 0) write (word, '(a,i4.4)') 'round: ', round
        call MPI_Bcast(word, 11, MPI_CHARACTER, 0, comm, ierr)
        call check(word(:7) == 'round: ', 'CHARACTER Bcast')
        allocate (words(0:ranks - 1))
        words = '?????'
        write (word, '(i5.5)') rank + round
        call MPI_Allgather(word, 5, MPI_CHARACTER, words, 5, MPI_CHARACTER, &
                           comm, ierr)
        do i = 0, ranks - 1
            write (word, '(i5.5)') i + round
            call check(words(i) == word(:5), 'CHARACTER Allgather')
        end do

        long = 2_8 ** 40 + rank
        call MPI_Allreduce(long, longest, 1, MPI_INTEGER8, MPI_MAX, comm, ierr)
        call check(longest == 2_8 ** 40 + ranks - 1, 'INTEGER*8 max')
    end subroutine

    ! The pair types that only Fortran has.
    subroutine pairs()
        integer :: mine(2), found(2)
        real :: rmine(2), rfound(2)
        double precision :: dmine(2), dfound(2)
        mine = [mod(rank * 7, ranks + 3), rank]
        call MPI_Allreduce(mine, found, 1, MPI_2INTEGER, MPI_MAXLOC, comm, &
                           ierr)
        call check(mod(found(2) * 7, ranks + 3) == found(1), '2INTEGER maxloc')
        call check(found(1) >= mine(1), '2INTEGER maxloc is largest')
        rmine = [-real(rank), real(rank)]
        call MPI_Allreduce(rmine, rfound, 1, MPI_2REAL, MPI_MINLOC, comm, ierr)
        call check(all(rfound == (ranks - 1) * [-1., 1.]), '2REAL minloc')
        dmine = [1d0, dble(rank)]
        call MPI_Allreduce(dmine, dfound, 1, MPI_2DOUBLE_PRECISION, &
                           MPI_MAXLOC, comm, ierr)
        call check(all(dfound == [1d0, 0d0]), 'equal maxima: lowest index')
    end subroutine

    ! 2 by 2 matrices multiply in rank order: an operation of our own that
    ! does not commute.
    subroutine own_operation()
        external :: multiply
        integer :: op, matrix, i
        double precision :: mine(4), product(4), want(4), next(4)
        call MPI_Type_contiguous(4, MPI_DOUBLE_PRECISION, matrix, ierr)
        call MPI_Type_commit(matrix, ierr)
        call MPI_Op_create(multiply, .false., op, ierr)
        mine = [1d0, 0d0, dble(rank + 1), 2d0]
        want = [1d0, 0d0, 1d0, 2d0]
        do i = 2, ranks
            next = [1d0, 0d0, dble(i), 2d0]
            call multiply(want, next, 1, matrix)
            want = next
        end do
        call MPI_Allreduce(mine, product, 1, matrix, op, comm, ierr)
        call check(all(product == want), 'own operation, in rank order')
        product = 0
        call MPI_Reduce(mine, product, 1, matrix, op, ranks - 1, comm, ierr)
        if (rank == ranks - 1) call check(all(product == want), &
                                          'own operation, Reduce')
        call MPI_Op_free(op, ierr)
        call MPI_Type_free(matrix, ierr)
    end subroutine

    ! Rank r has r + 1 elements.
    subroutine vectors()
        integer :: counts(0:ranks - 1), begins(0:ranks - 1), i, j, n
        integer, allocatable :: mine(:), theirs(:), want(:)
        counts = [(i + 1, i = 0, ranks - 1)]
        begins = [(i * (i + 1) / 2, i = 0, ranks - 1)]
        n = ranks * (ranks + 1) / 2
        allocate (mine(rank + 1), theirs(n), want(n))
        mine = [(1000 * rank + i, i = 0, rank)]
        want = [((1000 * j + i, i = 0, j), j = 0, ranks - 1)]

        theirs = -1
        call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, theirs, counts, &
                            begins, MPI_INTEGER, comm, ierr)
        call check(all(theirs == want), 'Allgatherv')
        theirs = -1
        call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, theirs, counts, &
                         begins, MPI_INTEGER, 0, comm, ierr)
        if (rank == 0) call check(all(theirs == want), 'Gatherv')
        mine = -1
        theirs = want
        call MPI_Scatterv(theirs, counts, begins, MPI_INTEGER, mine, &
                          rank + 1, MPI_INTEGER, 0, comm, ierr)
        call check(all(mine == [(1000 * rank + i, i = 0, rank)]), 'Scatterv')
        theirs = [((rank + 1, i = 0, j), j = 0, ranks - 1)]
        call MPI_Reduce_scatter(theirs, mine, counts, MPI_INTEGER, MPI_SUM, &
                                comm, ierr)
        call check(all(mine == n), 'Reduce_scatter')
    end subroutine

    ! Absolute addresses: the buffer is MPI_BOTTOM, a variable of its own.
    subroutine bottom()
        integer, save, target :: first(3)
        double precision, save, target :: second(2)
        integer(MPI_ADDRESS_KIND) :: places(2)
        integer :: kind
        first = -1
        second = -1
        if (rank == 0) then
            first = round * [1, 2, 3]
            second = round * [0.25d0, 0.75d0]
        end if
        call MPI_Get_address(first, places(1), ierr)
        call MPI_Get_address(second, places(2), ierr)
        call MPI_Type_create_struct(2, [3, 2], places, &
                [MPI_INTEGER, MPI_DOUBLE_PRECISION], kind, ierr)
        call MPI_Type_commit(kind, ierr)
        call MPI_Bcast(MPI_BOTTOM, 1, kind, 0, comm, ierr)
        call MPI_Get_address(first, places(1), ierr)
        call check(all(first == round * [1, 2, 3]), 'MPI_BOTTOM, integers')
        call check(all(second == round * [0.25d0, 0.75d0]), &
                   'MPI_BOTTOM, doubles')
        call MPI_Type_free(kind, ierr)
    end subroutine

    subroutine statuses()
        integer :: right, left, got, requests(2), status(MPI_STATUS_SIZE), n
        right = mod(rank + 1, ranks)
        left = mod(rank + ranks - 1, ranks)
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 3, got, 1, &
                          MPI_INTEGER, left, 3, comm, MPI_STATUS_IGNORE, ierr)
        call check(got == left, 'Sendrecv, MPI_STATUS_IGNORE')
        call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, comm, &
                       requests(1), ierr)
        call MPI_Isend(rank, 1, MPI_INTEGER, left, 4, comm, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call check(got == right, 'Waitall, MPI_STATUSES_IGNORE')
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 5, got, 1, &
                          MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &
                          status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(status(MPI_SOURCE) == left .and. status(MPI_TAG) == 5 &
                   .and. n == 1, 'a status says source, tag and count')
        call MPI_Barrier(comm, ierr)
        call check(ierr == MPI_SUCCESS, 'Barrier')
    end subroutine

    ! Messages of many pages: the MPI matches, Straightway moves. Every way to
    ! receive that a Fortran layer may translate by itself.
    subroutine messages()
        integer :: right, left, n, i, requests(2)
        integer :: status(MPI_STATUS_SIZE), statuses_2(MPI_STATUS_SIZE, 2)
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
                                  3, comm, status, ierr)
            case (2)
                call MPI_Irecv(plenty, many, MPI_DOUBLE_PRECISION, &
                               MPI_ANY_SOURCE, 3, comm, requests(1), ierr)
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2), ierr)
                call MPI_Waitall(2, requests, statuses_2, ierr)
                status = statuses_2(:, 1)
            case (3)
                call MPI_Issend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                                comm, requests(2), ierr)
                call MPI_Recv(plenty, many, MPI_DOUBLE_PRECISION, left, &
                              MPI_ANY_TAG, comm, status, ierr)
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
            case (4)
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2), ierr)
                call MPI_Probe(left, 3, comm, status, ierr)
                call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
                call check(n == many, 'Probe tells the length')
                call MPI_Recv(plenty, many, MPI_DOUBLE_PRECISION, left, 3, &
                              comm, status, ierr)
                call MPI_Waitall(1, requests(2:2), MPI_STATUSES_IGNORE, ierr)
            case (5)
                call MPI_Recv_init(plenty, many, MPI_DOUBLE_PRECISION, left, &
                                   3, comm, requests(1), ierr)
                call MPI_Send_init(out, many, MPI_DOUBLE_PRECISION, right, &
                                   3, comm, requests(2), ierr)
                call MPI_Startall(2, requests, ierr)
                call MPI_Wait(requests(1), status, ierr)
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
                call MPI_Request_free(requests(1), ierr)
                call MPI_Request_free(requests(2), ierr)
            case (6)
                call MPI_Irecv(plenty, many, MPI_DOUBLE_PRECISION, left, 3, &
                               comm, requests(1), ierr)
                call MPI_Isend(out, many, MPI_DOUBLE_PRECISION, right, 3, &
                               comm, requests(2), ierr)
                flag = .false.
                do while (.not. flag)
                    call MPI_Test(requests(1), flag, status, ierr)
                end do
                call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
            case (7)
                plenty = out
                call MPI_Sendrecv_replace(plenty, many, &
                                          MPI_DOUBLE_PRECISION, right, 3, &
                                          left, 3, comm, status, ierr)
            end select
            call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
            call check(n == many .and. status(MPI_SOURCE) == left .and. status(MPI_TAG) == 3, &
                       'a large message has a true status')
            call check(all(plenty == [(left * 1000.0d0 + i + n, &
                                       n = 1, many)]), 'a large message')
        end do
    end subroutine
end program

! c = a b for 2 by 2 matrices in column order; the result replaces b.
subroutine multiply(a, b, n, kind)
    implicit none
    integer :: n, kind, i
    double precision :: a(2, 2, n), b(2, 2, n)
    do i = 1, n
        b(:, :, i) = matmul(a(:, :, i), b(:, :, i))
    end do
end subroutine
