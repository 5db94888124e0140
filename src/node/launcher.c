/*
 * launcher.c - see launcher.h.
 */
#include "launcher.h"

#include <stdlib.h>
#include <string.h>

/* Open MPI, PMI-1 and -2 (MPICH, Intel MPI), PMIx, Slurm. */
bool sw_launcher_first_rank(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "PMIX_RANK",
        "SLURM_PROCID",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

/* The first of the variables that holds a count; 0: none does. */
static int counted(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = getenv(names[i]);
        if (text && atoi(text) > 0)
            return atoi(text);
    }
    return 0;
}

/* A rank that starts another program may leave the size in its environment,
 * while its MPI has taken the rank away: then the launcher has told nothing. */
int sw_launcher_ranks(void)
{
    if (getenv("OMPI_COMM_WORLD_RANK"))
        return counted((const char *const[]){"OMPI_COMM_WORLD_SIZE"}, 1);
    if (getenv("PMI_RANK"))
        return counted((const char *const[]){"PMI_SIZE"}, 1);
    return 0;
}

int sw_launcher_node_ranks(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MPI_LOCALNRANKS",
        "PMI_LOCAL_SIZE",
        "MPI_LOCAL_SIZE",
        "SLURM_TASKS_PER_NODE",
    };
    return counted(names, sizeof names / sizeof *names);
}

const char *sw_launcher_job(void)
{
    static const char *const names[] = {
        "SLURM_JOB_ID", "PBS_JOBID",    "LSB_JOBID",
        "FLUX_JOB_ID",  "COBALT_JOBID", "JOB_ID",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *id = getenv(names[i]);
        if (id && *id && !strchr(id, '/'))
            return id;
    }
    return NULL;
}
