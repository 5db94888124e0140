/* procedures.c - the procedures' names, by number; see flavour.h. */
#include "flavour.h"

const char *const sw_proc_names[] = {
#define SW_PROC(index, name) [index] = "MPI_" #name,
#include "procedures.inc"
#undef SW_PROC
    [SW_PROC_straightway_give] = "straightway_give",
    [SW_PROC_straightway_take] = "straightway_take",
};
