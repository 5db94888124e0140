/*
 * doorbell.pml - the doorbell of src/node/wait.h, for Spin.
 *
 * A writer stores a value and looks, with no fence between, whether any waiter
 * sleeps. A waiter announces itself, looks at the value once more and sleeps
 * on the event word. The store may take effect after the look (a store
 * buffer), so that the waiter can lose a wake-up.
 *
 * Proven: with the sleep's time limit the waiter comes to its end in every
 * run, and leaves no announcement behind. -DNO_LIMIT takes the limit away.
 * Spin must then find the lost wake-up (run.sh checks that it does), which
 * shows that the limit is necessary.
 */
#define VALUES 2

byte value, event, sleepers;
chan buffer = [4] of { byte };      /* the writer's stores, not in effect yet */
bool ended = false;

active proctype store_buffer()
{
    byte v;
end:
    do
    :: buffer?v -> value = v
    od
}

active proctype writer()
{
    byte v = 1;
    do
    :: v <= VALUES ->
        buffer!v;                   /* value = v, release */
        if
        :: sleepers > 0 ->          /* the look */
            /* A locked instruction: the store buffer is emptied first. */
            atomic { empty(buffer) -> event++ }
        :: else
        fi;
        v++
    :: else -> break
    od
}

active proctype waiter()
{
    byte seen;
    do
    :: value == VALUES -> break
    :: else ->
        atomic { sleepers++; seen = event }
        if
        :: value == VALUES
        :: else ->
            if                      /* asleep, unless it rang meanwhile */
            :: event != seen
#ifndef NO_LIMIT
            :: true                 /* time's up */
#endif
            fi
        fi;
        sleepers--
    od;
    assert(sleepers == 0);
    ended = true
}

ltl comes { <> ended }
