/*
 * Four threads meet a hundred thousand sites in different orders, and each site
 * has one number. Signal handlers that make calls meanwhile come to their end.
 * Full tables say so, and keep what they have.
 */
#include "oracle.h"
#include "rounds.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#define SITES FEWER(100000)
#define THREADS 4

static uintptr_t text;
static uint32_t numbers[THREADS][SITES];
static _Atomic int handled;

static uint32_t at(uintptr_t pc)
{
    sw_caller_t from = {.pc = pc};
    return sw_site(&from);
}

static void handler(int signal)
{
    static _Atomic uintptr_t step;
    int error = errno;
    if (handled > 5000) /* a slow machine has enough */
        return;
    at(text + SITES + 1 + step++ % 1000);
    handled++;
    errno = error;
}

/* Where libc's code is, which is large. */
static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            info->dlpi_phdr[i].p_flags & PF_X &&
            info->dlpi_phdr[i].p_memsz > SITES + 5000) {
            text = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            return 1;
        }
    return 0;
}

static void *meet(void *which)
{
    int me = (int)(intptr_t)which;
    sigset_t set;
    static const int strides[THREADS] = {1, 7, 99, 12347}; /* prime to SITES */

    /* A thread's first call may allocate: no signal until then. */
    at(text + 1);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (uint64_t i = 0; i < SITES; i++) {
        uint64_t k = (i * (uint64_t)strides[me] + (uint64_t)me * 31) % SITES;
        numbers[me][k] = at(text + 1 + k);
    }
    /* Nor when its end has taken away what it had. */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

    must(dl_iterate_phdr(find, NULL));
    must(sigaction(SIGALRM, &action, NULL) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    must(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        must(!pthread_create(&threads[i], NULL, meet, (void *)(intptr_t)i));
    for (int i = 0; i < THREADS; i++)
        must(!pthread_join(threads[i], NULL));
    must(setitimer(ITIMER_REAL, &never, NULL) == 0);

    static unsigned char seen[2 * SITES];
    uint32_t met = sw_table_rows(&sw_sites), twice = 0;
    must(met >= SITES && met <= SITES + 1000);
    for (int k = 0; k < SITES; k++) {
        uint32_t number = 0;
        for (int t = 0; t < THREADS; t++) {
            /* Only a handler gets 0, never the thread that it interrupted. */
            must(numbers[t][k] && numbers[t][k] <= met);
            must(!number || number == numbers[t][k]);
            number = numbers[t][k];
        }
        twice += seen[number]++;
        const sw_site_t *s = sw_table_row(&sw_sites, number);
        must(s->natives == 1 && s->pythons == 0);
        must(k % 1000 || frame_is(s->frames[0], text + (uintptr_t)k));
    }
    must(twice == 0);
    printf("%u sites, %d signals\n", met, handled);

    /* Full. */
    sw_sites.limit = met + 3;
    for (int i = 0; i < 10; i++) {
        uint32_t site = at(text + 2 + 2 * SITES / 2 + 2000 + (uintptr_t)i);
        must(i < 3 ? site == met + 1 + (uint32_t)i : site == 0);
    }
    for (int k = 0; k < SITES; k++)
        must(at(text + 1 + (uintptr_t)k) == numbers[0][k]);
    sw_sites.limit = 1 << 20;
    sw_frames.limit = sw_table_rows(&sw_frames);
    must(at(text + SITES + 4000) == 0);
    must(at(text + 1) == numbers[0][0]);
    return 0;
}
