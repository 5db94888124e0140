/*
 * server.c - see server.h.
 *
 * The spawned process reads the model, forks, tells the feeds which process to
 * watch, and ends (serve.c). So the rank learns of a refusal or a broken model
 * by the exit status. The process that goes on is no child of the rank.
 */
#include "server.h"

#include "ring.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEEDS_FD 3
#define LOOK_NS 100000000u

/* It is no part of the job: not preloaded, without settings. */
static const char *const without[] = {
    "LD_PRELOAD=", "LD_AUDIT=", "STRAIGHTWAY_", NULL};

/* Beside the library that this code is in. */
static bool beside(char *path, size_t room)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)sw_server_start, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    int n = snprintf(path, room, "%.*sstraightway-whatif", folder,
                     info.dli_fname);
    return n > 0 && (size_t)n < room;
}

/* 0, or what posix_spawn says; it has no signals of the rank's, and of its
 * descriptors the feeds' and stderr. */
static int spawn(pid_t *child, const char *program, char *const *argv,
                 char **env, int feeds)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    /* To itself, dup2 takes close-on-exec away. */
    posix_spawn_file_actions_adddup2(&files, feeds, FEEDS_FD);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawn(child, program, &files, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

bool sw_server_start(int feeds, const sw_server_t *server)
{
    char path[4096], number[16];
    const char *program = server->program;
    if (!program) {
        if (!beside(path, sizeof path)) {
            sw_say("the engine of virtual time is not where the library is");
            return false;
        }
        program = path;
    }
    snprintf(number, sizeof number, "%d", FEEDS_FD);
    const char *argv[16] = {program,   "serve",       "--feeds", number,
                            "--model", server->model, "--detach"};
    int n = 7;
    if (server->result) {
        argv[n++] = "--result";
        argv[n++] = server->result;
    }
    if (server->record) {
        argv[n++] = "--record";
        argv[n++] = server->record;
    }
    if (server->check)
        argv[n++] = "--check";
    argv[n] = NULL;

    char **env = sw_os_environment_without(without);
    pid_t child;
    int status = 0;
    int error = env ? spawn(&child, program, (char *const *)(uintptr_t)argv,
                            env, feeds)
                    : ENOMEM;
    free(env);
    if (error) {
        sw_say("%s cannot be started: %s", program, strerror(error));
        return false;
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR)
            continue;
        /* The program ignores SIGCHLD: the system has reaped it. The feeds
         * know whether it has come. */
        sw_feeds_t *map = sw_feeds_map(feeds);
        status = map && atomic_load(&map->head->state) == SW_SERVER_RUNS
                     ? 0
                     : 127 << 8;
        sw_feeds_unmap(map);
        break;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    /* It has said what is wrong itself, unless it could not be run. */
    if (WIFSIGNALED(status))
        sw_say("%s was ended by signal %d", program, WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        sw_say("%s cannot be run", program);
    return false;
}

bool sw_server_wait(sw_feeds_t *feeds)
{
    sw_feeds_head_t *head = feeds->head;
    for (;;) {
        if (atomic_load(&head->result))
            return true;
        if (atomic_load(&head->state) == SW_SERVER_NOT_YET ||
            sw_watch_gone(&head->server))
            return atomic_load(&head->result);
        sw_os_futex_wait(&head->result, 0, LOOK_NS);
    }
}
