! Hangs of a Fortran program; its first argument names the kind. A comment HERE
! says which ranks hang in the line below it (hangs.h). Each such call has one
! line: of several, a compiler names the last one.
program hangs
  implicit none
  ! Intel MPI has a module mpi for Intel's compiler only.
  include 'mpif.h'
  integer, parameter :: big = 4194304
  integer, parameter :: world = MPI_COMM_WORLD
  integer :: me, others, ierror, requests(2)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  integer, volatile :: never = 0
  character(len=32) :: kind
  character, save :: data(big), room(big)

  call get_command_argument(1, kind)
  call MPI_Init(ierror)
  call MPI_Comm_rank(world, me, ierror)
  call MPI_Comm_size(world, others, ierror)
  print '("ready ", i0)', getpid()
  flush (6)
  call MPI_Barrier(world, ierror)
  select case (kind)
  case ("receives")
    call receives()
  case ("ring")
    call ring()
  case ("sends")
    call sends()
  case ("wrong_tag")
    call wrong_tag()
  case ("mismatch")
    call mismatch()
  case ("user_loop")
    call user_loop()
  case ("waitall")
    call waitall()
  end select
  print '("rank ", i0, " does not hang")', me
  call MPI_Abort(world, 4, ierror)

contains

  ! Two ranks receive before either sends.
  subroutine receives()
    ! HERE receives 0-1
    call MPI_Recv(room, 8, MPI_CHARACTER, 1 - me, 5, world, status, ierror)
    call MPI_Send(data, 8, MPI_CHARACTER, 1 - me, 5, world, ierror)
  end subroutine

  ! Each of three ranks waits for the next one's message.
  subroutine ring()
    integer :: from
    from = mod(me + 1, others)
    ! HERE ring 0-2
    call MPI_Recv(room, 8, MPI_CHARACTER, from, 2, world, status, ierror)
  end subroutine

  ! Two ranks send big messages, and neither receives.
  subroutine sends()
    ! HERE sends 0-1
    call MPI_Send(data, big, MPI_CHARACTER, 1 - me, 5, world, ierror)
    call MPI_Recv(room, big, MPI_CHARACTER, 1 - me, 5, world, status, ierror)
  end subroutine

  ! The message has another tag.
  subroutine wrong_tag()
    if (me == 1) then
      call MPI_Send(data, 8, MPI_CHARACTER, 0, 9, world, ierror)
    else
      ! HERE wrong_tag 0
      call MPI_Recv(room, 8, MPI_CHARACTER, 1, 8, world, status, ierror)
    end if
    ! HERE wrong_tag 1
    call MPI_Barrier(world, ierror)
  end subroutine

  ! One rank broadcasts where the others reduce.
  subroutine mismatch()
    integer :: mine(2), sums(2)
    mine = me
    if (me == 2) then
      ! HERE mismatch 2
      call MPI_Bcast(data, 8, MPI_CHARACTER, 0, world, ierror)
    else
      ! HERE mismatch 0-1
      call MPI_Allreduce(mine, sums, 2, MPI_INTEGER, MPI_SUM, world, ierror)
    end if
    ! HERE mismatch 0-2
    call MPI_Barrier(world, ierror)
  end subroutine

  ! One rank computes without end.
  subroutine user_loop()
    integer :: mine(1), sums(1)
    mine = me
    if (me == 1) then
      ! HERE user_loop 1
      do while (never == 0)
      end do
    end if
    ! HERE user_loop 0,2
    call MPI_Allreduce(mine, sums, 1, MPI_INTEGER, MPI_SUM, world, ierror)
  end subroutine

  ! Of two receives one has no send.
  subroutine waitall()
    if (me == 0) then
      call MPI_Irecv(room, 8, MPI_CHARACTER, 1, 1, world, requests(1), ierror)
      call MPI_Irecv(room(9:), 8, MPI_CHARACTER, 1, 3, world, &
                     requests(2), ierror)
      ! HERE waitall 0
      call MPI_Waitall(2, requests, statuses, ierror)
    end if
    call MPI_Send(data, 8, MPI_CHARACTER, 0, 1, world, ierror)
    ! HERE waitall 1
    call MPI_Barrier(world, ierror)
  end subroutine
end program
