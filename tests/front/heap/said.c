/*
 * said.c - what a program says of a block's pages holds for that block, and
 * ends with it: the next block at the same place is plain.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../must.h"
#include "../../smaps.h"

#define SIZE ((size_t)300 << 10)
#define PAGE 4096u

/* The whole pages of a block. */
static char *inner(char *block)
{
    return (char *)(((uintptr_t)block + PAGE - 1) / PAGE * PAGE);
}
#define INNER (SIZE / PAGE * PAGE - PAGE)

static int child_of(void (*deed)(char *), char *block)
{
    int status;
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        deed(block);
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid);
    return status;
}

static void sees_sevens(char *block)
{
    for (size_t i = 0; i < SIZE; i++)
        if (block[i] != 7)
            _exit(1);
    memset(block, 8, SIZE);
}

static void sees_zeros(char *block)
{
    for (size_t i = 0; i < INNER; i++)
        if (inner(block)[i] != 0)
            _exit(1);
}

static void touches(char *block)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    _exit(((volatile char *)inner(block))[PAGE] != 7);
}

static void plain_now(const char *what)
{
    static const char *const flags[] = {"lo", "dd", "dc", "wf"};
    for (int i = 0; i < 4; i++) {
        char *block = malloc(SIZE);
        memset(block, 7, SIZE);
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            if (flagged(block, SIZE, flags[k])) {
                fprintf(stderr, "after %s: still %s\n", what, flags[k]);
                exit(1);
            }
        MUST(child_of(sees_sevens, block) == 0);
        MUST(block[5] == 7);
        free(block);
    }
}

static void advised(int advice, const char *flag, const char *what)
{
    for (int i = 0; i < 3; i++) {
        char *block = malloc(SIZE);
        memset(block, 7, SIZE);
        MUST(!madvise(inner(block), INNER, advice));
        if (flag)
            MUST(flagged(inner(block), INNER, flag) == INNER);
        if (advice == MADV_WIPEONFORK)
            MUST(child_of(sees_zeros, block) == 0);
        if (advice == MADV_DONTFORK) {
            int status = child_of(touches, block);
            MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        }
        MUST(block[9] == 7 && inner(block)[9] == 7);
        free(block);
        plain_now(what);
    }
}

static void what_was_undone(void)
{
    char *block = malloc(SIZE);
    memset(block, 7, SIZE);
    MUST(!madvise(inner(block), INNER, MADV_WIPEONFORK));
    MUST(!madvise(inner(block), INNER, MADV_KEEPONFORK));
    MUST(!madvise(inner(block), INNER, MADV_DONTFORK));
    MUST(!madvise(inner(block), INNER, MADV_DOFORK));
    MUST(child_of(sees_sevens, block) == 0);
    free(block);
}

/* Under a limit of 8 MiB, which root does not have. */
static void locked(void)
{
    for (int i = 0; i < 200; i++) {
        char *block = malloc(SIZE + (size_t)(i % 7) * 65536);
        block[0] = 1;
        if (mlock(block, SIZE)) {
            fprintf(stderr, "mlock %d: %s\n", i, strerror(errno));
            exit(1);
        }
        MUST(flagged(inner(block), INNER, "lo") == INNER);
        free(block);
    }
    plain_now("mlock");
    char *block = malloc(SIZE);
    MUST(!mlock(block, SIZE) && !munlock(block, SIZE));
    MUST(!flagged(block, SIZE, "lo"));
    free(block);
}

static void protected_by_a_key(void)
{
#ifdef PKEY_DISABLE_WRITE
    int key = pkey_alloc(0, PKEY_DISABLE_WRITE);
    if (key < 0)
        return;
    char *block = malloc(SIZE);
    MUST(!pkey_mprotect(inner(block), INNER, PROT_READ | PROT_WRITE, key));
    free(block);
    plain_now("pkey_mprotect");
#endif
}

static void protected(void)
{
    char *block = malloc(SIZE);
    memset(block, 7, SIZE);
    MUST(!mprotect(inner(block), INNER, PROT_READ));
    free(block);
    plain_now("mprotect");
}

/* What is freed is given back, although some of it was locked once. */
static void much_is_freed(void)
{
    enum { BLOCKS = 24 };
    static char *block[BLOCKS];
    size_t size = (size_t)16 << 20;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            block[i] = malloc(size);
            memset(block[i], 1, size);
            if (i % 5 == 0)
                (void)mlock(inner(block[i]), PAGE);
        }
        for (int i = 0; i < BLOCKS; i++)
            free(block[i]);
    }
    size_t resident = 0, unused;
    FILE *file = fopen("/proc/self/statm", "r");
    MUST(file && fscanf(file, "%zu %zu", &unused, &resident) == 2);
    fclose(file);
    MUST(resident * PAGE < (size_t)BLOCKS * size / 2);
}

int main(int argc, char **argv)
{
    struct rlimit limit = {8 << 20, 8 << 20};
    bool eager = argc > 1 && !strcmp(argv[1], "eager");
    MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
    if (geteuid() == 0)
        MUST(!setuid(65534));
    advised(MADV_DONTDUMP, "dd", "MADV_DONTDUMP");
    advised(MADV_DONTFORK, eager ? NULL : "dc", "MADV_DONTFORK");
    advised(MADV_WIPEONFORK, eager ? NULL : "wf", "MADV_WIPEONFORK");
    what_was_undone();
    locked();
    protected();
    protected_by_a_key();
    much_is_freed();
    puts("ok");
    return 0;
}
