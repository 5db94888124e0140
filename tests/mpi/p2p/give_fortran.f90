! A field goes around a ring of ranks, each of which adds its number.
program give_fortran
  use straightway_mpi
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 20000, rounds = 10
  integer :: rank, ranks, ierror, i, from(2), both(2)
  integer(c_size_t) :: bytes, got
  type(c_ptr) :: block
  type(c_ptr), target, asynchronous :: coming
  real(8), pointer :: field(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  bytes = 8_c_size_t * n
  call straightway_alloc(bytes, block, ierror)
  call c_f_pointer(block, field, [n])
  field = 0
  do i = 1, rounds * ranks
    field = field + rank
    call straightway_give(block, bytes, mod(rank + 1, ranks), 5, &
                          MPI_COMM_WORLD, ierror)
    if (ierror /= MPI_SUCCESS .or. c_associated(block)) stop 1
    call straightway_take(block, got, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &
                          from, ierror)
    if (ierror /= MPI_SUCCESS .or. got /= bytes) stop 2
    if (from(1) /= mod(rank + ranks - 1, ranks) .or. from(2) /= 5) stop 3
    call c_f_pointer(block, field, [n])
  end do
  if (any(field /= rounds * (ranks * (ranks - 1) / 2))) stop 4
  do i = 1, rounds
    field = i
    call straightway_itake(coming, 2 * bytes, mod(rank + ranks - 1, ranks), 6, &
                           MPI_COMM_WORLD, both(1), ierror)
    if (ierror /= MPI_SUCCESS) stop 5
    call straightway_igive(block, bytes, mod(rank + 1, ranks), 6, &
                           MPI_COMM_WORLD, both(2), ierror)
    if (ierror /= MPI_SUCCESS .or. c_associated(block)) stop 6
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
    if (ierror /= MPI_SUCCESS) stop 7
    block = coming
    call c_f_pointer(block, field, [n])
    if (any(field /= i)) stop 8
  end do
  call straightway_free(block)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print *, "all is well"
end program
