/*
 * clocks.h - the system's clocks, between the preloaded library, which stands
 * before them (front/clock/), and the flavour library, which knows what time
 * it is (mpi/virtual/clocks.c).
 */
#ifndef SW_CONTRACT_CLOCKS_H
#define SW_CONTRACT_CLOCKS_H

#include "node/base/base.h"

/* Virtual time, from the room that has it. */
typedef struct {
    /* ps since it began, for the calling thread; never less than before. */
    int64_t (*now)(void);
    /* The calling thread is going to sleep so many ns, and waits for nothing
     * else. */
    void (*sleeps)(int64_t ns);
    /* It has slept, or waited in vain, so many ns. */
    void (*slept)(int64_t ns);
} sw_clock_source_t;

/* MPI_Init begins: what is loaded from now until it ends is the MPI
 * library's. */
SW_API void sw_clocks_init(void);
/* It ends; virtual time begins. `source` is never forgotten. */
SW_API void sw_clocks_begin(const sw_clock_source_t *source);
/* Is the option on? */
SW_API bool sw_clocks_wanted(void);
/* What reading a clock takes without us, ns. */
SW_API int64_t sw_clocks_cost(void);

#endif
