/*
 * The recorder sees the same stack as glibc's unwinder, at every depth. The
 * frames are of every kind that compilers make: fixed, with arrays of variable
 * length, over-aligned, large, with many registers saved, recursive, called
 * back from libc. The same stack has the same number, another one another.
 */
#include "oracle.h"

#include <alloca.h>
#include <sys/wait.h>
#include <unistd.h>

static int depth;
static unsigned long state = 1;
static long stacks, sum;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

__attribute__((noinline)) static void wrapper(void)
{
    sw_caller_t from = SW_CALLER();
    uint32_t site = sw_site(&from);
    void *back[80];
    int n = outside(from.pc, back, 80);

    must(site_is(site, back, n, depth));
    must(sw_site(&from) == site);
    stacks++;
}

typedef void step_t(int left);
static step_t *const steps[];
static void go(int left);

#define STEP(name) __attribute__((noinline)) static void name(int left)

STEP(plain)
{
    go(left - 1);
    sum++;
}

STEP(lean_and_large)
{
    volatile char large[20000];
    large[left] = 1;
    go(left - 1);
    sum += large[left];
}

STEP(variable)
{
    int n = 1 + (int)below(300);
    volatile char some[n];
    some[n - 1] = 1;
    go(left - 1);
    sum += some[n - 1];
}

STEP(more_and_more)
{
    for (int i = 0; i < 3; i++) {
        volatile char *p = alloca(1 + below(100));
        *p = 1;
        if (i == 1)
            go(left - 1);
        sum += *p;
    }
}

STEP(aligned)
{
    _Alignas(64) volatile char row[64];
    row[0] = 1;
    go(left - 1);
    sum += row[0];
}

STEP(aligned_and_variable)
{
    _Alignas(128) volatile char row[128];
    volatile char some[1 + below(50)];
    row[1] = some[0] = 1;
    go(left - 1);
    sum += row[1] + some[0];
}

STEP(busy)
{
    long a = below(9), b = below(9), c = below(9), d = below(9), e = below(9),
         f = below(9), g = below(9);
    for (int i = 0; i < 2; i++) {
        if (i)
            go(left - 1);
        a += b, b += c, c += d, d += e, e += f, f += g, g += a;
    }
    sum += a + b + c + d + e + f + g;
}

STEP(deep)
{
    if (below(20)) {
        deep(left);
        sum++;
    } else {
        go(left - 1);
    }
    sum++;
}

static int compare(const void *a, const void *b)
{
    const int *left = a;
    static int inside;
    if (!inside) {
        inside = 1;
        go(*left - 1);
        inside = 0;
    }
    return 0;
}

STEP(by_libc)
{
    int two[2] = {left, left};
    qsort(two, 2, sizeof *two, compare);
    sum++;
}

STEP(twice)
{
    go(left - 1);
    wrapper();
    sum++;
}

static step_t *const steps[] = {plain,    lean_and_large,
                                variable, more_and_more,
                                aligned,  aligned_and_variable,
                                busy,     deep,
                                by_libc,  twice};

static void go(int left)
{
    if (left > 0)
        steps[below(sizeof steps / sizeof *steps)](left);
    else
        wrapper();
}

static void once(int frames)
{
    depth = frames;
    state = (unsigned long)frames;
    must(sw_site_depth(frames));
    must(!sw_site_depth(0) && !sw_site_depth(SW_DEPTH_MAX + 1));
    for (int i = 0; i < 3000; i++)
        go(1 + (int)below(12));
    must(!sw_site_depth(frames)); /* too late */
    printf("depth %d: %ld stacks, %u sites, %u frames\n", frames, stacks,
           sw_table_rows(&sw_sites), sw_table_rows(&sw_frames));
    must(sw_table_rows(&sw_sites) > 1);

    /* No two sites are one. */
    for (uint32_t a = 1; a <= sw_table_rows(&sw_sites) && a < 300; a++)
        for (uint32_t b = 1; b < a; b++) {
            const sw_site_t *s = sw_table_row(&sw_sites, a);
            const sw_site_t *t = sw_table_row(&sw_sites, b);
            must(s->natives != t->natives ||
                 memcmp(s->frames, t->frames, s->natives * 4u));
        }
}

int main(void)
{
    static const int depths[] = {1, 2, 3, 8, 32};
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            once(depths[i]);
            return 0;
        }
        int status;
        must(waitpid(child, &status, 0) == child && status == 0);
    }
    return 0;
}
