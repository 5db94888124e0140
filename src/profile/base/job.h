/*
 * job.h - what is known of the run as a whole.
 */
#ifndef SW_PROFILE_BASE_JOB_H
#define SW_PROFILE_BASE_JOB_H

#include "node/base/base.h"

/* Procedures have numbers below this. */
#define SW_JOB_PROCEDURES 1024

typedef struct {
    const char *const *procedures; /* their names */
    /* Told by the room that knows MPI. */
    int32_t rank, ranks;  /* in MPI_COMM_WORLD */
    int32_t thread_level; /* MPI's constant's place: 0 to 3 */
    int32_t node_number, node_ranks;
    bool accelerated;
    bool spawned; /* by another job's MPI_Comm_spawn */
    char mpi[256], library[512], flavour[16];
    uint64_t init_ticks; /* spent in MPI_Init */
    uint64_t start;      /* ticks at its end */
    uint64_t stop;       /* ticks at MPI_Finalize; 0: not yet */
    uint64_t own_cost;   /* ns that recording a call takes */
    /* Rank 0's, told to the others. */
    uint64_t began; /* seconds since 1970 */
    char id[64];
    char path[1024]; /* of the capture */
    bool elsewhere;  /* in a folder that was made for it */
    /* Found out here. */
    char program[128];
    char arguments[2048]; /* each ends with '\0' */
    uint32_t arguments_bytes;
    char node[256];
    int32_t pid, processors, node_processors;
    uint64_t cpu_before; /* ns of processor time at the start */
} sw_job_t;

SW_API extern sw_job_t sw_job;

/* Messages that Straightway matches itself, so far. */
typedef struct {
    uint64_t messages;
    uint64_t early, early_bytes; /* of these, before their receives */
    uint64_t waiting_most;       /* early ones at a time */
    uint64_t posted_most;        /* receives at a time */
} sw_job_matched_t;

/* Asks the room of messages. Safe in a signal handler. NULL: it matches none.
 */
SW_API extern void (*sw_job_matched)(sw_job_matched_t *to);

/* Fill in what the process knows of itself: program, arguments, node. */
SW_API void sw_job_look(void);
/* On rank 0: began, id and path, by STRAIGHTWAY_PROFILE_OUTPUT. Returns NULL,
 * or why no file can be written there (static text; errno says more). */
SW_API const char *sw_job_name_capture(void);
/* On rank 0, instead: in a new folder in $TMPDIR or /tmp, which this user alone
 * can look into. False: nothing can be written there either. */
SW_API bool sw_job_fall_back(void);
/* On the others, told `path` and `elsewhere`: the same folder, where they have
 * another file system. */
SW_API void sw_job_join(void);
/* Processor time of the process so far, ns. Safe in a signal handler. */
SW_API uint64_t sw_job_cpu(void);
/* ns that CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. Safe there, too. */
SW_API uint64_t sw_job_epoch(void);

#endif
