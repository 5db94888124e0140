! coarrays.f90 - a coarray program, whose run-time library (OpenCoarrays) makes a
! window of each coarray: strided puts and gets, events, atomics, a lock, a
! critical section, arrays that come and go. All results are checked.
program coarrays
   use iso_fortran_env, only: atomic_int_kind, event_type, lock_type
   implicit none
   integer, parameter :: rounds = 20, n = 60
   integer :: grid(n, n)[*], counter[*], guarded[*], round, me, all, right, left
   integer(atomic_int_kind) :: sum[*], seen
   integer, allocatable :: rows(:, :)[:]
   type(event_type) :: written[*], used[*]
   type(lock_type) :: gate[*]

   me = this_image()
   all = num_images()
   right = merge(1, me + 1, me == all)
   left = merge(all, me - 1, me == 1)
   grid = -1
   counter = 0
   guarded = 0
   call atomic_define(sum, 0)
   sync all

   do round = 1, rounds
      ! The left one writes every third row but the last column's.
      if (round > 1) event wait (used)
      grid(1:n:3, 1:n - 1)[right] = 1000*round + me
      event post (written[right])
      event wait (written)
      if (any(grid(1:n:3, 1:n - 1) /= 1000*round + left)) call wrong("puts")
      if (any(grid(2:n:3, :) /= -1) .or. any(grid(:, n) /= -1)) &
         call wrong("places")
      event post (used[left])

      call atomic_add(sum[1], me)
      lock (gate[1])
      counter[1] = counter[1] + me
      unlock (gate[1])
      critical
         guarded[1] = guarded[1] + 1
      end critical

      allocate (rows(10*round, 4)[*])
      rows = 10*me + round
      sync all
      if (any(rows(10*round:1:-2, 1:3)[right] /= 10*right + round)) &
         call wrong("gets")
      sync all
      deallocate (rows)
   end do

   sync all
   call atomic_ref(seen, sum[1])
   if (seen /= rounds*all*(all + 1)/2) call wrong("atomics")
   if (counter[1] /= rounds*all*(all + 1)/2) call wrong("lock")
   if (guarded[1] /= rounds*all) call wrong("critical")
   call co_sum(me)
   if (me /= all*(all + 1)/2) call wrong("sum")
   sync all
   if (this_image() == 1) print '(a)', "all is well"

contains

   subroutine wrong(what)
      character(*), intent(in) :: what
      print *, "image", this_image(), "round", round, ": ", what
      error stop 1
   end subroutine

end program
