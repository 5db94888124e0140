/*
 * Vectors in a device's memory become one, bit for bit as the processor's own
 * kernels combine them: random operations, types, numbers of vectors, counts
 * and alignments, in both orders. The target may be one of the vectors; no
 * other byte changes. What is out of place is refused. Each call of the driver
 * is refused in turn: then the target has its old bytes or the result's.
 * Workspaces are used again.
 */
#include "carried.h"

#include "device/combine.h"
#include "device/cuda.h"
#include "device/workspace.h"
#include "reductions.h"
#include "sanitized.h"

#define SOURCES 9
#define ELEMENTS 3000
#define ROOM (8 * ELEMENTS + 128)

static char *device[SOURCES + 1], *alias[SOURCES + 1];

static void begin(void)
{
    for (int i = 0; i <= SOURCES; i++) {
        device[i] = device_memory(ROOM);
        alias[i] = seen(device[i]);
    }
}

typedef struct {
    size_t k, n, bytes;
    int sources, order;
    size_t at[SOURCES + 1]; /* where each begins; the last is the target's */
    int in_place;           /* the source that is the target; -1: none */
    char *want, *old;       /* the target's whole memory */
} case_t;

static char *target_of(const case_t *c, char *const *memory)
{
    int i = c->in_place < 0 ? SOURCES : c->in_place;
    return memory[i] + c->at[i];
}

static case_t draw(void)
{
    static char want[ROOM], old[ROOM], room[16 * SW_REDUCE_BLOCK];
    case_t c = {
        .k = reduction_below(SW_REDUCE_COUNT), .want = want, .old = old};
    c.n = reduction_below(8) ? reduction_below(5) ? reduction_below(ELEMENTS)
                                                  : reduction_below(10)
                             : ELEMENTS;
    c.bytes = sw_type_bytes(reductions[c.k].type);
    c.sources = 1 + (int)reduction_below(SOURCES);
    c.order = reduction_below(2) ? SW_COMBINE_LINE : SW_COMBINE_TREE;
    c.in_place = reduction_below(4) ? -1
                                    : (int)reduction_below((uint64_t)c.sources);
    const void *in[SOURCES];
    for (int i = 0; i <= SOURCES; i++) {
        c.at[i] = c.bytes * reduction_below(9);
        reduction_fill(alias[i], reductions[c.k].type, ROOM / c.bytes);
        if (i < c.sources)
            in[i] = alias[i] + c.at[i];
    }
    int t = c.in_place < 0 ? SOURCES : c.in_place;
    memcpy(old, alias[t], ROOM);
    memcpy(want, alias[t], ROOM);
    sw_reduce_func_t f = sw_reduce_kernel(reductions[c.k].op,
                                          reductions[c.k].type);
    MUST(f);
    MUST(sw_reduce_room(SW_ORDER_TREE, c.sources) <= sizeof room);
    sw_reduce_many(f, c.bytes,
                   c.order == SW_COMBINE_LINE ? SW_ORDER_LINE : SW_ORDER_TREE,
                   want + c.at[t], in, c.sources, c.n, room);
    return c;
}

static bool combine(const case_t *c)
{
    const void *from[SOURCES];
    for (int i = 0; i < c->sources; i++)
        from[i] = device[i] + c->at[i];
    return sw_combine(&(sw_combine_t){reductions[c->k].kernel, c->order,
                                      c->sources, from, target_of(c, device),
                                      c->n});
}

static void compare(const case_t *c, const char *want)
{
    int t = c->in_place < 0 ? SOURCES : c->in_place;
    size_t at = c->at[t], end = at + c->n * c->bytes;
    bool right = memcmp(alias[t], c->old, at) == 0 &&
                 memcmp(alias[t] + end, c->old + end, ROOM - end) == 0 &&
                 reduction_equal(c->k, alias[t] + at, want + at, c->n);
    if (!right)
        fprintf(stderr, "%s of %s, %d sources, %zu elements, order %d\n",
                sw_op_name(reductions[c->k].op),
                sw_type_name(reductions[c->k].type), c->sources, c->n,
                c->order);
    MUST(right);
}

static void random_ones(void)
{
    int n = getenv("STRAIGHTWAY_DEEP")              ? 20000
            : THREAD_SANITIZED || ADDRESS_SANITIZED ? 300
                                                    : 1000;
    static bool met[SW_REDUCE_COUNT];
    size_t kernels = 0;
    begin();
    for (int i = 0; i < n; i++) {
        case_t c = draw();
        kernels += !met[c.k];
        met[c.k] = true;
        MUST(combine(&c));
        compare(&c, c.want);
    }
    MUST(kernels > SW_REDUCE_COUNT / 2);
}

/* More vectors than the random ones have. */
static void many(void)
{
    enum { N = 300 };
    static const int counts[] = {31, 32, 33, 63, SW_REDUCE_SOURCES};
    double *host = malloc(SW_REDUCE_SOURCES * N * sizeof *host), want[N];
    static char room[16 * SW_REDUCE_BLOCK];
    char *at = device_memory(SW_REDUCE_SOURCES * N * sizeof *host);
    char *to = device_memory(N * sizeof *host);
    const void *in[SW_REDUCE_SOURCES + 1], *from[SW_REDUCE_SOURCES + 1];
    MUST(host);
    for (size_t i = 0; i < SW_REDUCE_SOURCES * N; i++)
        host[i] = (double)reduction_below(1u << 30) / 3;
    memcpy(seen(at), host, SW_REDUCE_SOURCES * N * sizeof *host);
    for (size_t i = 0; i <= SW_REDUCE_SOURCES; i++) {
        in[i] = host + i % SW_REDUCE_SOURCES * N;
        from[i] = at + i % SW_REDUCE_SOURCES * N * sizeof *host;
    }
    sw_combine_t x = {SW_REDUCE_SUM_DOUBLE, 0, 0, from, to, N};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (x.order = 0; x.order < 2; x.order++) {
            x.sources = counts[k];
            sw_reduce_many(sw_reduce_kernel(SW_SUM, SW_DOUBLE), sizeof *host,
                           x.order == SW_COMBINE_LINE ? SW_ORDER_LINE
                                                      : SW_ORDER_TREE,
                           want, in, x.sources, N, room);
            MUST(sw_combine(&x));
            MUST(memcmp(seen(to), want, sizeof want) == 0);
        }
    x.sources = SW_REDUCE_SOURCES + 1;
    MUST(!sw_combine(&x));
    x.sources = 0;
    MUST(!sw_combine(&x));
    free(host);
}

static void out_of_place(void)
{
    static double host[64];
    begin();
    const void *from[2] = {device[0], device[1]};
    sw_combine_t x = {SW_REDUCE_SUM_DOUBLE, 0, 2, from, device[2], 8};
    MUST(sw_combine(&x));
    uint64_t launches = standin.count("cuLaunchKernel");
    x.n = 0;
    MUST(sw_combine(&x));
    x.n = ROOM / 8 + 1; /* beyond the allocations */
    MUST(!sw_combine(&x));
    x.n = UINT64_MAX / 2;
    MUST(!sw_combine(&x));
    x.n = 8;
    x.target = device[2] + 4; /* between elements */
    MUST(!sw_combine(&x));
    x.target = host;
    MUST(!sw_combine(&x));
    x.target = device[2];
    from[1] = host;
    MUST(!sw_combine(&x));
    from[1] = NULL;
    MUST(!sw_combine(&x));
    from[1] = device[1] + 2;
    MUST(!sw_combine(&x));
    handle_t other, gone;
    at_t there;
    CU(cuDevicePrimaryCtxRetain(&gone, 0));
    MUST(standin.create(&other, 0, 0) == 0);
    CU(cuMemAlloc_v2(&there, 1000));
    from[1] = (void *)there;
    MUST(!sw_combine(&x)); /* of another context */
    MUST(standin.count("cuLaunchKernel") == launches);
    MUST(standin.destroy(other) == 0);
}

static void workspaces(void)
{
    char *like = device_memory(100);
    sw_workspace_t *a = sw_workspace_take(like, 1000),
                   *b = sw_workspace_take(like, 5 << 20);
    MUST(a && b && sw_workspace_at(a) != sw_workspace_at(b));
    void *of_a = sw_workspace_at(a), *of_b = sw_workspace_at(b);
    uint64_t made = standin.count("cuMemAlloc_v2");
    sw_workspace_give(b, like, true);
    sw_workspace_give(a, like, true);
    a = sw_workspace_take(like, 2000);
    MUST(a && sw_workspace_at(a) == of_a);
    b = sw_workspace_take(like, 4 << 20);
    MUST(b && sw_workspace_at(b) == of_b);
    MUST(standin.count("cuMemAlloc_v2") == made);
    sw_workspace_give(a, like, true);
    sw_workspace_give(b, like, true);
    b = sw_workspace_take(like, 7 << 20);
    MUST(b && standin.count("cuMemAlloc_v2") == made + 1);
    MUST(standin.count("cuMemFree_v2") == 1);
    sw_workspace_give(b, like, true);
    /* What is very large is not kept. */
    a = sw_workspace_take(like, 300 << 20);
    sw_workspace_give(a, like, true);
    MUST(standin.count("cuMemFree_v2") == 3);
    /* Not more than a few. */
    sw_workspace_t *some[6];
    for (int i = 0; i < 6; i++)
        MUST((some[i] = sw_workspace_take(like, 10)));
    for (int i = 0; i < 6; i++)
        sw_workspace_give(some[i], like, true);
    MUST(standin.count("cuMemFree_v2") == 5);
    char ordinary[4];
    MUST(!sw_workspace_take(ordinary, 4));
    sw_workspace_give(NULL, like, true);
    MUST(standin.reset(0) == 0);
    like = device_memory(100);
    a = sw_workspace_take(like, 10);
    MUST(a);
    sw_workspace_give(a, like, true);
}

static void *calls(void *context)
{
    (void)context;
    double three = 3, six = 6;
    char *at = device_memory(3 * 8);
    memcpy(seen(at), &three, 8);
    memcpy(seen(at) + 8, &three, 8);
    const void *from[] = {at, at + 8};
    for (int i = 0; i < 100; i++) {
        sw_workspace_t *w = sw_workspace_take(at, 100 + (uint64_t)i);
        MUST(w);
        MUST(sw_combine(&(sw_combine_t){SW_REDUCE_SUM_DOUBLE, i % 2, 2, from,
                                        sw_workspace_at(w), 1}));
        MUST(memcmp(seen(sw_workspace_at(w)), &six, 8) == 0);
        sw_workspace_give(w, at, true);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[3];
    device_memory(1);
    for (int i = 0; i < 3; i++)
        MUST(pthread_create(&thread[i], NULL, calls, NULL) == 0);
    for (int i = 0; i < 3; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

static void no_kernels(void)
{
    sw_settings.gpu_kernels = "/nowhere";
    begin();
    for (int i = 0; i < 10; i++) {
        case_t c = draw();
        MUST(!c.n || !combine(&c));
        compare(&c, c.old);
    }
}

static int most; /* calls that are refused at most */
enum { CALLS = 12 };

static void refused(void)
{
    int done = 0;
    begin();
    for (int i = 0; i < CALLS; i++) {
        case_t c = draw();
        sw_workspace_t *w = sw_workspace_take(device[0], 100);
        if (combine(&c)) {
            compare(&c, c.want);
            done++;
        } else if (memcmp(alias[c.in_place < 0 ? SOURCES : c.in_place], c.old,
                          ROOM) != 0) {
            compare(&c, c.want);
        }
        sw_workspace_give(w, device[0], true);
    }
    MUST(CALLS - done <= most);
}

int main(void)
{
#define CALL(name, arguments) #name,
    static const char *const call[] = {SW_CUDA_CALLS(CALL)};
    static const char *const how[] = {"=1", "=2:400", "1", "=3:201", "7"};
    make_kernels();
    alone(random_ones, "random", "", "0");
    alone(many, "many", "", "0");
    alone(out_of_place, "out of place", "", "0");
    alone(workspaces, "workspaces", "", "0");
    alone(threads, "threads", "", "0");
    alone(no_kernels, "no kernels", "", "0");
    int some = getenv("STRAIGHTWAY_DEEP")              ? 1
               : THREAD_SANITIZED || ADDRESS_SANITIZED ? 7
                                                       : 2,
        runs = 0;
    for (size_t i = 0; i < sizeof call / sizeof *call; i++)
        for (int h = 0; h < 5; h++) {
            char refuse[100];
            snprintf(refuse, sizeof refuse, "%s:%s", call[i], how[h]);
            most = how[h][0] == '=' ? 2 : CALLS;
            if (runs++ % some == 0)
                alone(refused, "refused", refuse, h == 1 ? "100" : "0");
        }
    remove_kernels();
    return 0;
}
