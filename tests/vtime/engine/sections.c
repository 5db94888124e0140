/*
 * What a rank spends in a section (computing, messages, collectives, waiting)
 * against times by hand (ranks.h: o = 10, o' = 20, L = 100, G = 1 a byte,
 * S = 1000). They sum up to the whole, however the operations come.
 */
#include "ranks.h"

#include "vtime/engine/section_times.h"

static sw_sections_t names;

static void section(ranks_t *r, uint32_t rank, const char *name)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_SECTION,
                   .bytes = sw_sections_find(&names, name, strlen(name))});
}

#define leave(r, rank) section(r, rank, "")

static sw_section_time_t *all, *now;
static uint32_t count;

/* Those of all ranks sum up: no section has time that is nowhere. */
static void finish(ranks_t *r)
{
    ranks_run(r);
    free(all);
    all = sw_sections_times(r->engine, &names, &count);
    if (!all)
        return;
    sw_ps_t whole = 0, sum = all[0].sum.end, waiting = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        whole += r->result.ranks[i].end;
        waiting += r->result.ranks[i].waiting;
    }
    for (uint32_t i = 1; i < count; i++)
        if (!strchr(sw_sections_name(&names, i), '/'))
            sum += all[i].sum.end;
    MUST(sum == whole);
    sum = all[0].sum.waiting;
    for (uint32_t i = 1; i < count; i++) {
        const sw_rank_time_t *t = &all[i].sum;
        MUST(t->end == t->compute + t->noise + t->messages + t->collectives);
        MUST(t->waiting <= t->messages + t->collectives);
        if (!strchr(sw_sections_name(&names, i), '/'))
            sum += t->waiting;
    }
    MUST(sum == waiting);
}

static const sw_section_time_t *of(const char *name)
{
    uint32_t number = *name ? sw_sections_find(&names, name, strlen(name)) : 0;
    MUST(number < count);
    return now = &all[number];
}

static void is(const char *name, uint32_t ranks, sw_ps_t compute,
               sw_ps_t messages, sw_ps_t collectives, sw_ps_t waiting, int line)
{
    const sw_rank_time_t *t = &of(name)->sum;
    if (now->ranks == ranks && t->compute == compute &&
        t->messages == messages && t->collectives == collectives &&
        t->waiting == waiting)
        return;
    fprintf(stderr,
            "sections.c:%d: '%s' has %u ranks, %lld computing, %lld "
            "messages, %lld collectives, %lld waiting\n",
            line, name, now->ranks, (long long)t->compute,
            (long long)t->messages, (long long)t->collectives,
            (long long)t->waiting);
    exit(1);
}
#define IS(...) is(__VA_ARGS__, __LINE__)

static void late_sender(void)
{
    ranks_t *r = ranks_linked(2);
    compute(r, 0, 100);
    section(r, 0, "a");
    compute(r, 0, 500);
    send(r, 0, 1, 0, 1); /* called at 600, there at 711 */
    leave(r, 0);
    compute(r, 0, 7);
    section(r, 1, "a");
    compute(r, 1, 50);
    recv(r, 1, 0, 0); /* until 731: 550 waiting, 131 moving */
    leave(r, 1);
    finish(r);
    IS("a", 2, 550, 10 + 681, 0, 550);
    MUST(of("a")->longest == 1 && now->most.end == 731);
    MUST(now->most.compute == 50 && now->most.waiting == 550);
    IS("", 2, 107, 0, 0, 0);
    ranks_free(r);
}

static void late_receiver(void)
{
    ranks_t *r = ranks_linked(2);
    section(r, 0, "a");
    send(r, 0, 1, 0, 2000); /* until 3110; it is received from 1000 on */
    section(r, 1, "b");
    compute(r, 1, 1000);
    recv(r, 1, 0, 0); /* 3230: no rank was late for it */
    finish(r);
    IS("a", 1, 0, 3110, 0, 990); /* 10 are its own */
    IS("b", 1, 1000, 2230, 0, 0);
    MUST(of("")->ranks == 2 && now->sum.end == 0);
    ranks_free(r);
}

/* An operation under way goes on from one section to the next. Its rank waits
 * only in the section in which it calls the wait. */
static void nonblocking(void)
{
    ranks_t *r = ranks_linked(2);
    section(r, 1, "post");
    irecv(r, 1, 0, 0, 1);
    section(r, 1, "work");
    compute(r, 1, 300);
    section(r, 1, "wait");
    wait_for(r, 1, 1); /* 300 -> 731, called for at 600 */
    compute(r, 0, 600);
    send(r, 0, 1, 0, 1);
    finish(r);
    IS("post", 1, 0, 0, 0, 0);
    IS("work", 1, 300, 0, 0, 0);
    IS("wait", 1, 0, 431, 0, 300);
    ranks_free(r);
}

/* A section within another belongs to that, too, each time. */
static void nested(void)
{
    ranks_t *r = ranks_linked(1);
    for (int i = 0; i < 3; i++) {
        section(r, 0, "a");
        compute(r, 0, 10);
        section(r, 0, "a/x");
        compute(r, 0, 100);
        section(r, 0, "a/x/y");
        compute(r, 0, 1000);
        section(r, 0, "a");
        compute(r, 0, 1);
        leave(r, 0);
        compute(r, 0, 5);
    }
    section(r, 0, "ax");
    compute(r, 0, 20000);
    finish(r);
    IS("a", 1, 3333, 0, 0, 0);
    IS("a/x", 1, 3300, 0, 0, 0);
    IS("a/x/y", 1, 3000, 0, 0, 0);
    IS("ax", 1, 20000, 0, 0, 0);
    IS("", 1, 15, 0, 0, 0);
    ranks_free(r);
}

/* Members come at 100, 200, 300, 400; those of a scan, the last first. */
static void collectives(const char *algorithm, unsigned what, const char *name,
                        const sw_ps_t *waits)
{
    ranks_t *r = ranks_linked(4);
    char text[64];
    snprintf(text, sizeof text, "messages %s %s", name,
             algorithm ? algorithm : "");
    if (algorithm)
        say(&r->model, text);
    for (uint32_t i = 0; i < 4; i++) {
        compute(r, i, 100 * (what == SW_COLLECTIVE_SCAN ? 4 - i : i + 1));
        section(r, i, "a");
        collective(r, i, what, what == SW_COLLECTIVE_BCAST ? 2 : 0, 8, 0);
        leave(r, i);
        section(r, i, "b");
        compute(r, i, 1);
        /* Waiting is that in the end, not while it computes. */
        collective(r, i, what, what == SW_COLLECTIVE_BCAST ? 2 : 0, 8, 1);
        compute(r, i, 1000000);
        wait_for(r, i, 1);
    }
    finish(r);
    sw_ps_t sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += waits[i];
    MUST(of("a")->sum.waiting == sum && now->ranks == 4);
    MUST(now->sum.compute == 0 && now->sum.messages == 0);
    MUST(of("b")->sum.waiting == 0 && now->sum.compute == 4 * 1000001);
    MUST(of("")->sum.compute == 1000 && now->sum.end == 1000);
    ranks_free(r);
}

static void free_collectives(void)
{
    sw_ps_t time[2], rest[2];
    for (int free = 0; free < 2; free++) {
        ranks_t *r = ranks_linked(2);
        if (free)
            say(&r->model, "free all");
        for (uint32_t i = 0; i < 2; i++) {
            section(r, i, "a");
            compute(r, i, 100);
            collective(r, i, SW_COLLECTIVE_ALLREDUCE, -1, 64, 0);
            section(r, i, "b");
            compute(r, i, 100);
            if (i == 0)
                send(r, 0, 1, 0, 1);
            else
                recv(r, 1, 0, 0);
        }
        finish(r);
        time[free] = of("a")->sum.end;
        rest[free] = of("b")->sum.end;
        ranks_free(r);
    }
    MUST(time[1] == 200 && time[0] > 200 && rest[0] == rest[1]);
}

/* A section is the rank's, whichever of its threads says it. */
static void threads(void)
{
    ranks_t *r = ranks_linked(1);
    sw_vop_t goes = {.kind = SW_OP_THREAD, .what = SW_THREAD_GOES};
    sw_vop_t after = {.kind = SW_OP_THREAD, .what = SW_THREAD_AFTER};
    put(r, 0, goes);
    section(r, 0, "a");
    compute(r, 0, 100);
    goes.request = 1;
    put(r, 0, goes);
    put(r, 0, after); /* it begins at 100 */
    compute(r, 0, 500);
    goes.request = 0;
    put(r, 0, goes);
    after.request = 1;
    put(r, 0, after); /* joined at 600 */
    section(r, 0, "b");
    compute(r, 0, 20);
    leave(r, 0);
    compute(r, 0, 3);
    finish(r);
    MUST(r->result.end == 623);
    IS("a", 1, 100, 500, 0, 500);
    IS("b", 1, 20, 0, 0, 0);
    IS("", 1, 3, 0, 0, 0);
    ranks_free(r);
}

static void none(void)
{
    ranks_t *r = ranks_linked(1);
    compute(r, 0, 5);
    ranks_run(r);
    MUST(!sw_sections_times(r->engine, &names, &count) && count == 0);
    ranks_free(r);

    r = ranks_linked(1);
    put(r, 0, (sw_vop_t){.kind = SW_OP_SECTION, .bytes = SW_SECTION_MOST + 1});
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    ranks_free(r);
}

static void numbers(void)
{
    sw_sections_t s = {0};
    char name[16];
    for (uint32_t i = 1; i <= 3000; i++) {
        snprintf(name, sizeof name, "section %u", i);
        MUST(sw_sections_add(&s, name) == i);
    }
    for (uint32_t i = 1; i <= 3000; i++) {
        snprintf(name, sizeof name, "section %u", i);
        MUST(sw_sections_add(&s, name) == i);
        MUST(!strcmp(sw_sections_name(&s, i), name));
    }
    MUST(!sw_sections_set(&s, 5, "another"));
    MUST(!sw_sections_set(&s, 4000, "section 7"));
    MUST(!sw_sections_set(&s, SW_SECTION_MOST + 1, "far"));
    MUST(sw_sections_set(&s, 4000, "another"));
    MUST(!*sw_sections_name(&s, 3999) && !*sw_sections_name(&s, 0));
    MUST(sw_sections_find(&s, "another", 7) == 4000);
    MUST(!sw_sections_find(&s, "another", 6));
    sw_sections_free(&s);
}

int main(void)
{
    static const char *const all_names[] = {"b",    "a/x/y", "a",    "post",
                                            "work", "a/x",   "wait", "ax"};
    static const sw_ps_t everybody[] = {300, 200, 100, 0};
    static const sw_ps_t for_root[] = {200, 100, 0, 0};
    static const sw_ps_t at_root[] = {300, 0, 0, 0};
    static const sw_ps_t lower[] = {0, 100, 200, 300};
    for (size_t i = 0; i < sizeof all_names / sizeof *all_names; i++)
        MUST(sw_sections_add(&names, all_names[i]) == i + 1);
    numbers();
    none();
    late_sender();
    late_receiver();
    nonblocking();
    nested();
    collectives(NULL, SW_COLLECTIVE_ALLREDUCE, "allreduce", everybody);
    collectives("recursive_doubling", SW_COLLECTIVE_ALLREDUCE, "allreduce",
                everybody);
    collectives("ring", SW_COLLECTIVE_ALLGATHER, "allgather", everybody);
    collectives("pairwise", SW_COLLECTIVE_ALLTOALLV, "alltoallv", everybody);
    collectives(NULL, SW_COLLECTIVE_BCAST, "bcast", for_root);
    collectives("binomial", SW_COLLECTIVE_BCAST, "bcast", for_root);
    collectives(NULL, SW_COLLECTIVE_REDUCE, "reduce", at_root);
    collectives("binomial", SW_COLLECTIVE_REDUCE, "reduce", at_root);
    collectives(NULL, SW_COLLECTIVE_SCAN, "scan", lower);
    collectives("linear", SW_COLLECTIVE_SCAN, "scan", lower);
    collectives("recursive_doubling", SW_COLLECTIVE_SCAN, "scan", lower);
    free_collectives();
    threads();
    free(all);
    sw_sections_free(&names);
    return 0;
}
