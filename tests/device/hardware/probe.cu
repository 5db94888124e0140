/*
 * probe.cu - small kernels that show what a launch, a flag and a meeting of two
 * processes cost.
 */

extern "C" __global__ void probe_empty(void)
{
}

/* Store a value in memory that the processor or another process watches. */
extern "C" __global__ void probe_flag(volatile unsigned *flag, unsigned value)
{
    __threadfence_system();
    *flag = value;
}

/* Take turns with another kernel: wait for 2 i + side, store 2 i + side + 1.
 * Gives up after a number of clock ticks. `done` has the turns that were taken,
 * and the ticks. */
extern "C" __global__ void probe_turns(volatile unsigned *flag, unsigned side,
                                       unsigned turns, long long most,
                                       long long *done)
{
    long long begin = clock64();
    unsigned i = 0;
    for (; i < turns; i++) {
        while (*flag != 2 * i + side)
            if (clock64() - begin > most)
                goto late;
        __threadfence_system();
        *flag = 2 * i + side + 1;
    }
late:
    done[0] = i;
    done[1] = clock64() - begin;
}

/* Keep an SM busy for a number of clock ticks. */
extern "C" __global__ void probe_busy(long long ticks)
{
    long long begin = clock64();
    while (clock64() - begin < ticks)
        ;
}
