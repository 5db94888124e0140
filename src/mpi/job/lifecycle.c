/*
 * lifecycle.c - the beginning and the end of MPI: MPI_Init introduces the ranks
 * of the node to each other; MPI_Finalize prints the statistics before the host
 * ends; MPI_Session_finalize may take our keyvals along. A profile and virtual
 * time begin and end here, too, when nothing is accelerated.
 */
#include "mpi/base/comm.h"
#include "mpi/base/datatype.h"
#include "mpi/base/guard.h"
#include "mpi/base/patience.h"
#include "mpi/coll/started.h"
#include "mpi/p2p/messages.h"
#include "mpi/p2p/partitioned.h"
#include "mpi/topo/seating.h"
#include "mpi/turns/turns.h"
#include "mpi/watch/watched.h"
#include "node/base/settings.h"
#include "node/launcher.h"
#include "node/os/os.h"
#include "quiet.h"
#include "stats.h"

/* The launcher of another MPI starts ranks that do not find each other. */
static void mind_launcher(void)
{
    int size = 0, ranks = sw_launcher_ranks();
    host.Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 && ranks > 1 && sw_launcher_first_rank())
        sw_say("the launcher has started %d ranks, and each is alone in "
               "MPI_COMM_WORLD: the launcher belongs to another MPI than the "
               "program. `straightway doctor` names the launchers",
               ranks);
}

/* The host's MPI_Init has taken so many ns, and all of it since `before`. */
static int begun(int result, uint64_t before, uint64_t theirs)
{
    if (result != MPI_SUCCESS)
        return result;
    mind_launcher();
    if (sw_settings.enable)
        sw_patience_prepare();
    sw_roster_start();
    if (sw_settings.enable) {
        sw_patience_start();
        sw_messages_start();
        sw_started_start();
        sw_partitioned_start();
        sw_quiet_start();
        sw_seating_start();
    }
    if (sw_settings.where)
        sw_watched_world();
    else if (*sw_settings.hang_after && sw_roster.rank == 0)
        sw_say("--hang-after does nothing here: straightway where does not see "
               "this job");
    if (*sw_settings.turns)
        sw_turns_start(sw_os_now() - before - theirs);
    return result;
}

int sw_MPI_Init(int *argc, char ***argv)
{
    uint64_t before = sw_os_now();
    sw_quiet_prepare();
    uint64_t middle = sw_os_now();
    int result = host.Init(argc, argv);
    return begun(result, before, sw_os_now() - middle);
}

int sw_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t before = sw_os_now();
    sw_quiet_prepare();
    uint64_t middle = sw_os_now();
    int result = host.Init_thread(argc, argv, required, provided);
    return begun(result, before, sw_os_now() - middle);
}

int sw_MPI_Finalize(void)
{
    sw_turns_stop();
    if (sw_settings.enable) {
        if (sw_settings.stats)
            sw_stats_print();
        sw_messages_stop();
        sw_started_stop();
        sw_partitioned_stop();
        sw_seating_stop();
    }
    sw_comms_close();
    sw_roster_stop();
    return host.Finalize();
}

#ifdef SW_HAS_Session_init
int sw_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                        MPI_Session *session)
{
    SW_INSIDE;
    sw_patience_session = true;
    return host.Session_init(info, errhandler, session);
}
#endif

#ifdef SW_HAS_Session_finalize
int sw_MPI_Session_finalize(MPI_Session *session)
{
    sw_comm_forget_keyval();
    sw_datatype_forget_keyval();
    return host.Session_finalize(session);
}
#endif
