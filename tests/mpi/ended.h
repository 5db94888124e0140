/*
 * ended.h - has another process of this machine ended? A launcher may not have
 * asked for its exit status yet: its memory is gone all the same.
 */
#ifndef SW_TESTS_MPI_ENDED_H
#define SW_TESTS_MPI_ENDED_H

#include "mpi/test.h"

static inline bool has_ended(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    if (f)
        fclose(f);
    return state == 'X' || state == 'Z';
}

static inline void await_end_of(pid_t pid)
{
    while (!has_ended(pid))
        usleep(1000);
}

#endif
