/* look.c - see look.h. */
#include "look.h"
#include "task.h"

enum { LOOKS = 4 };

static sw_point_t point_of(const sw_watch_from_t *from)
{
    return (sw_point_t){.pc = from->pc, .sp = from->sp, .bp = from->bp};
}

/* The thread's stack outside of MPI. */
static bool sample(const sw_display_t *d, pid_t tid, char state,
                   uint64_t python, sw_look_t *to)
{
    sw_space_t *s = d->space;
    sw_point_t at;
    bool halts, waits = sw_task_waits(s->pid, tid, &at, &halts);

    to->python.count = 0;
    if (waits) {
        sw_stack_copy(s, at.sp);
        sw_stack_walk(s, at, &to->frames);
        sw_python_stack(s, d->copy, python, &to->python);
        if (!to->frames.lost)
            return true;
    }
    bool still = state == 'T' || state == 't' || state == 'D' || !halts;
    if (still || !sw_task_halt(tid, &at))
        return waits;
    sw_stack_copy(s, at.sp);
    sw_python_stack(s, d->copy, python, &to->python);
    sw_task_go(tid);
    sw_stack_walk(s, at, &to->frames);
    return true;
}

static void inside(const sw_display_t *d, sw_look_t *to)
{
    sw_point_t from = point_of(&to->row.call.from);

    sw_stack_copy(d->space, from.sp);
    sw_python_stack(d->space, d->copy, to->row.python, &to->python);
    sw_stack_walk(d->space, from, &to->frames);
}

void sw_look_thread(const sw_display_t *d, size_t i, pid_t tid, char state,
                    bool stacks, bool samples, sw_look_t *to)
{
    for (int n = 0; n < LOOKS; n++) {
        to->known = false;
        to->frames.count = to->python.count = 0;
        to->good = sw_display_thread(d, i, &to->row);
        if (!to->good || !(to->row.inside ? stacks : samples))
            return;
        if (to->row.inside) {
            inside(d, to);
            to->known = true;
        } else {
            to->known = sample(d, tid, state, to->row.python, to);
        }
        if (sw_display_turn(d, i) == to->row.turn)
            return;
    }
    to->python.count = 0;
    to->known = to->row.inside;
    if (to->row.inside)
        sw_stack_first(d->space, point_of(&to->row.call.from), &to->frames);
}

void sw_look_outside(const sw_display_t *d, pid_t tid, char state,
                     sw_look_t *to)
{
    to->good = false;
    to->known = sample(d, tid, state, 0, to);
}
