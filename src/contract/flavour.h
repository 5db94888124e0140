/*
 * flavour.h - the contract between the front door and a flavour library.
 *
 * The front (libstraightway.so) knows no <mpi.h>: it sees procedures as
 * numbers and addresses. A flavour library (libstraightway-ompi.so, -mpich,
 * -abi) is src/mpi/ compiled against one binary interface. At the first MPI
 * call the front finds the loaded host, picks the flavour and loads its
 * library. It asks that for an entry for each procedure.
 *
 * The numbers come from the MPI Forum's interface (procedures.inc, generated):
 * SW_PROC(index, Name) for MPI_Name, in alphabetical order.
 */
#ifndef SW_CONTRACT_FLAVOUR_H
#define SW_CONTRACT_FLAVOUR_H

#include "node/base/base.h"

typedef void (*sw_function_t)(void);

enum {
#define SW_PROC(index, name) SW_PROC_##name = index,
#include "procedures.inc"
#undef SW_PROC
    SW_PROC_COUNT,
    /* For profiles: calls of straightway_mpi.h. */
    SW_PROC_straightway_give = SW_PROC_COUNT,
    SW_PROC_straightway_take,
};

/* "MPI_Name" for each number, and the names of those calls. */
SW_API extern const char *const sw_proc_names[];

/* What front and flavour say of this contract (all of src/contract/): one more
 * whenever anything in it changes. Both come from one build as a rule; a front
 * that finds another number loads nothing. */
#define SW_FLAVOUR_VERSION 4u

/* What the calls of straightway_mpi.h return when their message is to go by
 * value. No error code of MPI is negative. */
#define SW_BY_VALUE (-1)
/* What a take returns if nothing has matched a message for it. */
#define SW_UNMATCHED (-2)

/* Those calls, which are no procedures of MPI. The front does not know how
 * large a handle is: `comm` and `message` point to one, `status` to a
 * status. */
typedef struct {
    int (*give)(void **block, size_t bytes, int dest, int tag,
                const void *comm);
    /* By value: the message is matched, and not received. */
    int (*take)(void **block, size_t *bytes, int source, int tag,
                const void *comm, void *message, void *status);
    int (*take_matched)(void **block, size_t *bytes, void *message,
                        void *status);
    /* `type` and `request` point to such, too. By value: nothing is posted. */
    int (*itake)(void **block, int count, const void *type, int source, int tag,
                 const void *comm, void *request);
} sw_hands_t;

typedef struct {
    uint32_t version; /* SW_FLAVOUR_VERSION; first, for ever */
    const char *name; /* "ompi", "mpich", "abi" */

    /* Bind to the host: `find(name)` gives the address of a host symbol
     * ("PMPI_Bcast"), or NULL. It looks in the host library alone, so that
     * what it returns is never one of our stubs nor another tool's. Returns
     * NULL, or the reason why this host cannot be served (static text). */
    const char *(*bind)(void *(*find)(const char *symbol));

    /* Our own function for a procedure, or NULL: the host's is called
     * directly. Asked after bind, for every procedure the host has. */
    sw_function_t (*entry)(int procedure);

    /* Asked after bind; NULL: all goes by value. */
    const sw_hands_t *(*hands)(void);
} sw_flavour_t;

/* The one symbol a flavour library exports. */
#define SW_FLAVOUR_SYMBOL "sw_flavour"

#endif
