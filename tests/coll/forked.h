/*
 * forked.h - a team of processes, without any MPI.
 *
 *   test ----fork----> member 0, 1, ... n-1
 *        shared page:  introductions | answers | counts of arrivals
 *
 * The page stands for the host's Allgather. Each member sets up its own arena
 * and segment, as the preloaded library does in a rank. The way at hand
 * prescribes the settings, and so what a member may use. A member's failure or
 * a timeout fails the test and ends all members.
 */
#ifndef SW_TEST_COLL_FORKED_H
#define SW_TEST_COLL_FORKED_H

#include "cma.h"
#include "members.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* How members may reach each other. `odd`: members of odd rank have settings of
 * their own. */
typedef struct {
    const char *name;
    bool arena, cma;
    const char *refuse;
    bool odd_differs, odd_arena, odd_cma;
    bool quiet; /* see node/arena/show.h */
    size_t show_after;
} way_t;

static const way_t ways[] = {
    {.name = "arena and CMA", .arena = true, .cma = true, .quiet = true},
    {.name = "arena alone", .arena = true},
    {.name = "CMA alone", .cma = true},
    {.name = "some without CMA",
     .arena = true,
     .cma = true,
     .odd_differs = true,
     .odd_arena = true,
     .show_after = 3},
    {.name = "some without arena",
     .arena = true,
     .cma = true,
     .odd_differs = true,
     .odd_cma = true},
    {.name = "lost wake-ups", .arena = true, .cma = true, .refuse = "futex"},
};
#define WAYS ((int)(sizeof ways / sizeof *ways))
#define MAIN_WAYS 3

#define FORKED_MAX 256

typedef struct {
    sw_introduction_t introduction[FORKED_MAX];
    sw_agreement_t answer[FORKED_MAX];
    _Atomic int arrived[4];
    /* For the test's own use. */
    _Atomic uint64_t word[FORKED_MAX];
} page_t;

static page_t *shared_page;

static inline void meet_all(int which, int n)
{
    atomic_fetch_add(&shared_page->arrived[which], 1);
    while (atomic_load(&shared_page->arrived[which]) < n)
        usleep(200);
}

static char fixed_pool[STACK_POOL];

/* Tests may replace what a member says of itself. */
typedef void (*introduce_func_t)(sw_introduction_t *mine, int me);

static inline bool nobody_writes(void)
{
    return true;
}

/* A child's life up to its sequence; NULL with *why where there is none. */
static inline sw_sequence_t *join(const way_t *way, int n, int me,
                                  introduce_func_t change, const char **why)
{
    bool odd = way->odd_differs && me % 2;
    sw_settings.arena = odd ? way->odd_arena : way->arena;
    sw_settings.cma = odd ? way->odd_cma : way->cma;
    sw_settings.refuse = way->refuse ? way->refuse : "";
    const char *show = getenv("STRAIGHTWAY_SHOW");
    sw_settings.show = show ? show : sw_settings.show;
    sw_settings.show_after = way->show_after;
    sw_show_quiet = way->quiet ? nobody_writes : NULL;
    sw_settings.arena_size = (size_t)1 << 30;
    sw_settings.pool_size = (size_t)1 << 28;
    sw_arena_start();
    sw_peer_t **peer = malloc((size_t)n * sizeof *peer);
    bool able = sw_team_introduce(&shared_page->introduction[me], 0);
    if (change)
        change(&shared_page->introduction[me], me);
    meet_all(0, n);
    sw_agreement_t *answer = &shared_page->answer[me];
    if (able)
        sw_agreement_answer(shared_page->introduction, n, me, peer, answer);
    else
        *answer = (sw_agreement_t){.ok = 0};
    meet_all(1, n);
    sw_sequence_t *seq = sw_agreement_open(
        shared_page->introduction, shared_page->answer, n, me, peer, why);
    if (!seq)
        free(peer);
    sw_wait_crowd(sw_peer_crowd());
    return seq;
}

static inline void live(const way_t *way, int n, int me, uint64_t seed,
                        introduce_func_t change, member_func_t body)
{
    static member_t m;
    const char *why;
    m = (member_t){.n = n, .me = me, .way = way->name, .seed = seed};
    m.fixed = fixed_pool;
    m.fixed_room = sizeof fixed_pool;
    m.seq = join(way, n, me, change, &why);
    if (!m.seq)
        fail(&m, "no sequence: %s", why);
    run_member(&m, body);
    meet_all(2, n); /* memory stays while others may read it */
    sw_sequence_close(m.seq);
    exit(0);
}

/* Waits for all; returns false when one failed or time ran out. */
static inline bool reap(const pid_t *pid, int n, int seconds)
{
    bool good = true;
    time_t end = time(NULL) + seconds;
    for (int left = n; left > 0;) {
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            left--;
            if (!(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
                if (good && WIFSIGNALED(status))
                    fprintf(stderr, "a member died of signal %d\n",
                            WTERMSIG(status));
                good = false;
            }
            continue;
        }
        if (ended < 0)
            break;
        if (!good || time(NULL) > end) {
            if (good)
                fprintf(stderr, "no end after %d s: a hang\n", seconds);
            for (int i = 0; i < n; i++)
                kill(pid[i], SIGKILL);
            while (waitpid(-1, &status, 0) > 0)
                ;
            return false;
        }
        usleep(500);
    }
    return good;
}

/* `life` runs in each child and does not return. */
#define SW_FORK(n, seconds, life)                                  \
    do {                                                           \
        pid_t pid_[FORKED_MAX];                                    \
        if (!shared_page)                                          \
            shared_page = mmap(NULL, sizeof *shared_page,          \
                               PROT_READ | PROT_WRITE,             \
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0); \
        memset(shared_page, 0, sizeof *shared_page);               \
        for (int me = 0; me < (n); me++) {                         \
            pid_[me] = fork();                                     \
            if (pid_[me] < 0) {                                    \
                perror("fork");                                    \
                _exit(1);                                          \
            }                                                      \
            if (pid_[me] == 0) {                                   \
                prctl(PR_SET_PDEATHSIG, SIGKILL);                  \
                life;                                              \
                _exit(1);                                          \
            }                                                      \
        }                                                          \
        if (!reap(pid_, n, seconds))                               \
            exit(1);                                               \
    } while (0)

/* Are there members without an arena, which CMA alone reaches? */
static inline bool needs_cma(const way_t *way)
{
    return way->cma && (!way->arena || (way->odd_differs && !way->odd_arena));
}

/* Runs `body` in a team of n processes. Ends the test if it fails. */
static inline void run_forked(int n, const way_t *way, uint64_t seed,
                              member_func_t body)
{
    if (needs_cma(way) && !knows_cma()) {
        printf("not run: %s: no process_vm_readv\n", way->name);
        return;
    }
    SW_FORK(n, 300, live(way, n, me, seed, NULL, body));
}

#endif
