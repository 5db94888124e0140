/*
 * ending.c - see ending.h.
 */
#include "ending.h"

#include "profile/base/job.h"
#include "profile/record/recorder.h"
#include "profile/record/tracer.h"
#include "node/base/settings.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Other processes end a program by these, unless it handles them. */
static const int requests[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGXCPU,
                               SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM};
/* A program's own faults raise these. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                             SIGABRT, SIGSYS, SIGTRAP};

void (*sw_ending_first)(int signal);

static struct sigaction before[65];
static _Atomic pid_t watched; /* the process; 0: none watches */
static _Atomic bool ending;

static const char *why(sw_end_t end, int signal)
{
    return end == SW_END_ABORT  ? "MPI_Abort"
           : end == SW_END_EXIT ? "exit"
           : end == SW_END_EXEC ? "exec"
                                : strsignal(signal);
}

static void write_block(sw_end_t end, int signal)
{
    sw_blob_t block;
    if (atomic_load(&watched) != getpid() || atomic_exchange(&ending, true))
        return;
    sw_recording_set(SW_RECORDING_OFF);
    sw_recorder_close_tracers();
    bool made = sw_capture_block(end, signal, &block);
    if (!made)
        sw_say("rank %d: no memory left to write its profile", sw_job.rank);
    else if (sw_capture_append(sw_job.path, &block))
        sw_say("rank %d: its profile cannot be written to %s: %s", sw_job.rank,
               sw_job.path, strerror(errno));
    else
        sw_say("rank %d ended before MPI_Finalize (%s); its profile is in %s"
               "\nstraightway: to see it: straightway report %s%s%s%s",
               sw_job.rank, why(end, signal), sw_job.path, sw_job.path,
               sw_tracing ? "\nstraightway: to see each call: straightway "
                            "report "
                          : "",
               sw_tracing ? sw_job.path : "", sw_tracing ? " --perfetto" : "");
}

static void handle(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (sw_ending_first)
        sw_ending_first(signal);
    write_block(SW_END_SIGNAL, signal);
    sigaction(signal, &before[signal], NULL);
    errno = error;
    /* A fault comes again by itself when we return. */
    if (info && info->si_code > 0 && signal != SIGABRT)
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            if (faults[i] == signal)
                return;
    raise(signal);
    (void)context;
}

static void watch(int signal, bool even_if_handled)
{
    struct sigaction now,
        ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    if (sigaction(signal, NULL, &now))
        return;
    bool is_default = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
    if (!is_default && (!even_if_handled || (!(now.sa_flags & SA_SIGINFO) &&
                                             now.sa_handler == SIG_IGN)))
        return;
    before[signal] = now;
    sigaction(signal, &ours, NULL);
}

static void unwatch(int signal)
{
    struct sigaction now;
    if (!sigaction(signal, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == handle)
        sigaction(signal, &before[signal], NULL);
}

static void leave_quickly(void)
{
    sw_ending_now(SW_END_EXIT);
}

void sw_ending_watch(void)
{
    static bool registered;
    if (!registered)
        registered = !at_quick_exit(leave_quickly);
    atomic_store(&watched, getpid());
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        watch(requests[i], false);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        watch(faults[i], true);
}

void sw_ending_done(void)
{
    atomic_store(&watched, 0);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        unwatch(requests[i]);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        unwatch(faults[i]);
}

bool sw_ending_is_watched(void)
{
    return atomic_load(&watched) == getpid() && !atomic_load(&ending);
}

void sw_ending_now(sw_end_t end)
{
    write_block(end, 0);
}
