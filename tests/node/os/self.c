/*
 * What a process remembers of itself is its own in every child, and a word that
 * may not be there is compared without harm.
 */
#include "must.h"

#include "node/os/os.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS 20000

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void draw(uint64_t *to)
{
    for (int i = 0; i < NUMBERS; i++)
        to[i] = sw_os_unique();
}

static void ended_well(pid_t child)
{
    int status;
    MUST(waitpid(child, &status, 0) == child && !status);
}

/* A child by libc's fork, and one that libc knows nothing of. */
static pid_t fork_by(bool libc)
{
    return libc ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void a_child_has_its_own_number(bool libc)
{
    MUST(sw_os_pid() == getpid());
    pid_t child = fork_by(libc);
    if (!child)
        _exit(sw_os_pid() != (pid_t)syscall(SYS_getpid) ||
              sw_os_pid() != (pid_t)syscall(SYS_getpid));
    MUST(sw_os_pid() == getpid());
    ended_well(child);
}

static void a_child_draws_other_numbers(bool libc)
{
    uint64_t *all = mmap(NULL, 3 * NUMBERS * sizeof *all,
                         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0);
    MUST(all != MAP_FAILED);
    draw(all);
    pid_t child = fork_by(libc);
    if (!child) {
        draw(all + NUMBERS);
        _exit(0);
    }
    draw(all + 2 * NUMBERS);
    ended_well(child);
    qsort(all, 3 * NUMBERS, sizeof *all, by_number);
    for (int i = 1; i < 3 * NUMBERS; i++)
        MUST(all[i] != all[i - 1]);
    munmap(all, 3 * NUMBERS * sizeof *all);
}

static void a_word_is_compared(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t *word = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(word != MAP_FAILED);
    MUST(sw_os_word_is(word, 0)); /* it was never touched */
    word[0] = 7;
    errno = 0;
    MUST(sw_os_word_is(word, 7) && !sw_os_word_is(word, 8));
    MUST(!mprotect(word, page, PROT_READ) && sw_os_word_is(word, 7));
    MUST(!mprotect(word, page, PROT_NONE) && !sw_os_word_is(word, 7));
    MUST(!munmap(word, page) && !sw_os_word_is(word, 7));
    MUST(!sw_os_word_is(NULL, 0) && !sw_os_word_is((void *)8, 0));
    MUST(sw_os_word_is((char *)word + page, 0) && errno == 0);
    MUST(!sw_os_word_is((char *)word + 2 * page - 2, 0));
    munmap((char *)word + page, page);
}

int main(void)
{
    for (int libc = 0; libc < 2; libc++) {
        a_child_has_its_own_number(libc);
        a_child_draws_other_numbers(libc);
    }
    a_word_is_compared();
    return 0;
}
