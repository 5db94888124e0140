/*
 * Each service that the arena needs is refused in turn, and the limits on
 * address space and file size are lowered: the program that results works,
 * with an arena or without one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "sanitized.h"

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               exit(1)))

static void fork_works(char *p)
{
    memset(p, 1, 100000);
    pid_t pid = fork();
    if (pid == 0) {
        memset(p, 2, 100000);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(p[0] == 1 && p[99999] == 1);
}

/* In a process of its own: start under the conditions given, see whether an
 * arena stands ("on", "off"), and use it. */
static int with(const char *expected)
{
    sw_settings_load();
    sw_settings.arena_keep = 1 << 20;
    sw_arena_start();
    bool on = sw_arena.fd >= 0;
    CHECK(on == !strcmp(expected, "on"));
    CHECK((sw_arena.count > 0) == on);
    char *p = sw_arena_alloc(100000, 16);
    CHECK((p != NULL) == on);
    CHECK(sw_arena_is_block(p) == on);
    CHECK((sw_arena_offset(p, 1) != UINT64_MAX) == on);
    if (!on)
        return 0;
    fork_works(p);
    sw_arena_free(p);
    for (int i = 0; i < 50; i++) {
        char *q = sw_arena_calloc((size_t)(1 + i % 5) << 23);
        if (!q)
            continue;
        CHECK(q[0] == 0 && q[1 << 22] == 0);
        memset(q, 1, 1 << 23);
        sw_arena_free(q);
    }
    return 0;
}

static void run(const char *self, const char *refuse, int resource, size_t most,
                const char *expected)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setenv("STRAIGHTWAY_REFUSE", refuse, 1);
        if (most) {
            struct rlimit limit = {most, most};
            CHECK(setrlimit((__rlimit_resource_t)resource, &limit) == 0);
        }
        execl(self, self, expected, NULL);
        _exit(9);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        printf("refuse=%s limit %d of %zu: status %#x\n", refuse, resource,
               most, status);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *self = "/proc/self/exe";
    const size_t gib = (size_t)1 << 30;
    if (argc == 2)
        return with(argv[1]);
    run(self, "", 0, 0, "on");
    run(self, "memfd", 0, 0, "off");
    run(self, "map", 0, 0, "off");
    run(self, "map:2", 0, 0, "off");
    run(self, "map:3", 0, 0, "off");
    run(self, "map:4", 0, 0, "on");
    run(self, "punch", 0, 0, "on");
    run(self, "punch:3", 0, 0, "on");
    run(self, "advice", 0, 0, "on");
    run(self, "huge", 0, 0, "on");
    run(self, "topology", 0, 0, "on");
    run(self, "dump", 0, 0, "on");
    run(self, "page", 0, 0, "off");
    run(self, "", RLIMIT_FSIZE, gib, "on");
    run(self, "", RLIMIT_FSIZE, 4096, "off");
/* Sanitizers reserve terabytes of addresses. */
#if !SANITIZED
    run(self, "", RLIMIT_AS, gib, "on");
    run(self, "", RLIMIT_AS, 100u << 20, "off");
#endif
    puts("ok");
    return 0;
}
