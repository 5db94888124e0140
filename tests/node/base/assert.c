/*
 * sw_assert where it is on, as in each build of the rooms' tests: it ends the
 * process, with a message that says what does not hold, where, and in which
 * rank. What holds is evaluated once.
 */
#include "node/base/base.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

static int evaluated;

static bool holds(bool so)
{
    evaluated++;
    return so;
}

/* The macro as this build has it: the room's tests are built with it on. */
static void while_on(bool so)
{
    sw_assert(holds(so));
}

/* A child that asserts what is not so: its signal, and what it says. */
static int fallen(char *said, size_t room)
{
    int ends[2], status;
    MUST(!pipe(ends));
    fflush(NULL);
    pid_t child = fork();
    MUST(child >= 0);
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        setenv("OMPI_COMM_WORLD_RANK", "7", 1);
        while_on(false);
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got;
         n < room - 1 && (got = read(ends[0], said + n, room - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = 0;
    close(ends[0]);
    MUST(waitpid(child, &status, 0) == child);
    char process[32];
    snprintf(process, sizeof process, "process %d", (int)child);
    MUST(strstr(said, process));
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void on(void)
{
    char said[1024];
    MUST(fallen(said, sizeof said) == SIGABRT);
    MUST(strstr(said, "straightway: "));
    MUST(strstr(said, "assert.c:"));
    MUST(strstr(said, "while_on"));
    MUST(strstr(said, "rank 7"));
    MUST(strstr(said, "holds(so)"));
    while_on(true);
    MUST(evaluated == 1);
}

int main(void)
{
    on();
    return 0;
}
