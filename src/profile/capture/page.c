/*
 * page.c - see page.h.
 */
#include "page.h"

#include "summary.h"
#include "profile/base/job.h"
#include "profile/record/tracer.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child is no part of the job, and not preloaded. */
static const char *const without[] = {
    "LD_PRELOAD=", "STRAIGHTWAY_PROFILE=", NULL};

static char *command;
static char folder[4096]; /* of the start; "": not known */

void sw_profile_page_prepare(void)
{
    command = getenv("STRAIGHTWAY_COMMAND");
    if (!getcwd(folder, sizeof folder))
        *folder = '\0';
}

/* Run `straightway report` with an option. Returns whether it succeeded. */
static bool report(const char *option)
{
    char *const argv[] = {command,       "report", (char *)(uintptr_t)option,
                          "--seen-from", folder,   sw_job.path,
                          NULL};
    char **env = sw_os_environment_without(without);
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    /* The program may have left no descriptor free. */
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
        posix_spawn_file_actions_addclose(&actions, fd);
    int status = -1;
    if (command && *command && env &&
        !posix_spawn(&child, command, &actions, NULL, argv, env))
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    return !status;
}

/* The capture as seen from the user's folder. */
static const char *seen(void)
{
    size_t n = strlen(folder);
    return n && !strncmp(sw_job.path, folder, n) && sw_job.path[n] == '/'
               ? sw_job.path + n + 1
               : sw_job.path;
}

void sw_profile_page(void)
{
    if (access(sw_job.path, F_OK))
        return;
    if (!sw_settings.profile_report) {
        sw_say("the profile is in %s; to see it: straightway report %s%s%s%s",
               sw_job.path, sw_job.path,
               sw_tracing ? "; to see each call: straightway report " : "",
               sw_tracing ? sw_job.path : "", sw_tracing ? " --perfetto" : "");
        return;
    }
    if (sw_settings.profile_page && report("--finish"))
        return;
    sw_summary_print(seen());
    if (sw_tracing)
        report("--join");
}
