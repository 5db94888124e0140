! dense.f90 - all eigenvalues and vectors of a dense symmetric matrix, then the
! solution of equations with it, by ScaLAPACK.
program dense
  implicit none
  integer, parameter :: n = 700, nb = 32, eigen = 3, solve = 4
  integer, external :: numroc, indxl2g
  integer :: context, ranks, me, rows, columns, row, column, info, i, j
  integer :: mine(2), a_desc(9)
  integer(8) :: begun, ended, rate
  integer, allocatable :: pivots(:)
  double precision, allocatable :: a(:,:), b(:,:), x(:,:), z(:,:), w(:)
  double precision, allocatable :: work(:)
  double precision :: found

  call system_clock(begun, rate)
  call blacs_pinfo(me, ranks)
  rows = int(sqrt(dble(ranks)))
  columns = ranks / rows
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'R', rows, columns)
  call blacs_gridinfo(context, rows, columns, row, column)
  mine = [numroc(n, nb, row, 0, rows), numroc(n, nb, column, 0, columns)]
  allocate(a(mine(1), mine(2)), x(mine(1), mine(2)), z(mine(1), mine(2)))
  allocate(b(mine(1), mine(2)), w(n), pivots(mine(1) + nb), work(1))
  call descinit(a_desc, n, n, nb, nb, 0, 0, context, mine(1), info)
  do j = 1, mine(2)
    do i = 1, mine(1)
      b(i, j) = element(indxl2g(i, nb, row, 0, rows), &
                        indxl2g(j, nb, column, 0, columns))
    end do
  end do

  a = b
  call pdsyev('V', 'U', n, a, 1, 1, a_desc, w, z, 1, 1, a_desc, work, -1, info)
  i = int(work(1))
  deallocate(work)
  allocate(work(i))
  do j = 1, eigen
    a = b
    call pdsyev('V', 'U', n, a, 1, 1, a_desc, w, z, 1, 1, a_desc, work, i, info)
  end do
  if (me == 0) print '(a, i3, 3es24.16)', 'eigenvalues', info, &
                           w(1), w(n / 2), w(n)

  do j = 1, solve
    a = b
    x = b
    call pdgetrf(n, n, a, 1, 1, a_desc, pivots, info)
    call pdgetrs('N', n, n, a, 1, 1, a_desc, pivots, x, 1, 1, a_desc, info)
  end do
  ! A matrix divided by itself is 1.
  found = sum(x)
  call dgsum2d(context, 'A', ' ', 1, 1, found, 1, -1, -1)
  if (me == 0) print '(a, es24.16)', 'sum', found
  z = b
  call pdgemm('N', 'N', n, n, n, 1d0, b, 1, 1, a_desc, x, 1, 1, a_desc, -1d0, &
              z, 1, 1, a_desc)
  found = maxval(abs(z))
  call dgamx2d(context, 'A', ' ', 1, 1, found, 1, i, j, -1, -1, -1)
  if (me == 0) print '(a, i3, es10.2)', 'residual', info, found
  call system_clock(ended)
  if (me == 0) print '(a, f10.4)', 'seconds', dble(ended - begun) / dble(rate)
  call blacs_gridexit(context)
  call blacs_exit(0)
contains
  double precision function element(i, j)
    integer, intent(in) :: i, j
    element = cos(dble(i * j)) + cos(dble(i + j))
    if (i == j) element = element + mod(i, 50)
  end function
end program
