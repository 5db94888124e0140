/*
 * assert.c - the end of a process in which an invariant does not hold.
 *
 * The process may be inside malloc, or hold any of our locks: sw_say takes
 * neither memory nor a lock. The launchers' variables name the rank, because an
 * invariant may break where there is no MPI.
 */
#include "settings.h"

#include <stdlib.h>
#include <unistd.h>

static const char *rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "PMIX_RANK"};
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = getenv(names[i]);
    return found ? found : "unknown";
}

void sw_assert_failed(const char *condition, const char *file, int line,
                      const char *function)
{
    sw_say("%s:%d: %s: rank %s, process %d: does not hold: %s", file, line,
           function, rank(), (int)getpid(), condition);
    abort();
}
