/*
 * page.c - see page.h.
 */
#include "page.h"

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
static const char *const without[] = {"LD_PRELOAD=", "STRAIGHTWAY_PROFILE=",
                                      NULL};

static char *command;
static char folder[4096];       /* of the start; "": not known */

void sw_profile_page_prepare(void)
{
    command = getenv("STRAIGHTWAY_COMMAND");
    if (!getcwd(folder, sizeof folder))
        *folder = '\0';
}

void sw_profile_page(void)
{
    char *const argv[] = {command, "report", "--finish", "--seen-from", folder,
                          sw_job.path, NULL};
    if (access(sw_job.path, F_OK))
        return;
    char **env = sw_os_environment_without(without);
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    /* The program may have left no descriptor free. */
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
        posix_spawn_file_actions_addclose(&actions, fd);
    int status = -1;
    if (sw_settings.profile_report && command && *command && env &&
        !posix_spawn(&child, command, &actions, NULL, argv, env))
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    if (status)
        sw_say("the profile is in %s; to see it: straightway report %s%s%s%s",
               sw_job.path, sw_job.path,
               sw_tracing ? "; to see each call: straightway report " : "",
               sw_tracing ? sw_job.path : "", sw_tracing ? " --perfetto" : "");
}
