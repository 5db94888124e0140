/*
 * The engine among the program's contexts, threads and processes: a buffer's
 * own context serves it, whatever is current; contexts end and begin again;
 * threads carry at once and free each other's layouts; a forked child leaves
 * the driver alone; a capture of the program's goes on.
 */
#include "carried.h"

#include "device/shape.h"
#include "layout/build.h"
#include "sanitized.h"

/* `n` runs of 8 bytes at uneven distances. */
static sw_layout_t *uneven(int n, int by)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[64];
    MUST(b && n <= 64);
    for (int i = 0; i < n; i++)
        place[i] = sw_place_moved(sw_build_run(b, 8), i * i * by * 8);
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, n, place),
                                  n * n * by * 8);
    MUST(l);
    return sw_layout_share(l);
}

/* A new context, which is not current. */
static handle_t create(void)
{
    handle_t context;
    MUST(standin.create(&context, 0, 0) == 0);
    CU(cuCtxSetCurrent(NULL));
    return context;
}

static at_t memory_in(handle_t context, size_t bytes)
{
    handle_t before;
    at_t at;
    CU(cuCtxGetCurrent(&before));
    CU(cuCtxSetCurrent(context));
    CU(cuMemAlloc_v2(&at, bytes));
    CU(cuCtxSetCurrent(before));
    return at;
}

/* Pack and unpack a message in memory at `at`. */
static bool carry(at_t at, const sw_layout_t *l, uint64_t seed)
{
    enum { MOST = 1 << 16 };
    char data[512], want[512], *user = (char *)at, *view = seen(user);
    static _Thread_local char copy[MOST];
    size_t bytes = l->size, span = (size_t)l->high;
    MUST(bytes <= sizeof data && span <= MOST);
    for (size_t i = 0; i < span; i++)
        view[i] = copy[i] = (char)random_from(&seed);
    if (!sw_carry_pack(l, user, 1, 0, bytes, data))
        return false;
    sw_layout_pack(l, copy, 1, 0, bytes, want);
    MUST(memcmp(data, want, bytes) == 0);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)random_from(&seed);
    if (!sw_carry_unpack(l, user, 1, 0, bytes, data))
        return false;
    sw_layout_unpack(l, copy, 1, 0, bytes, data);
    MUST(memcmp(view, copy, span) == 0);
    return true;
}

static void current_is(handle_t context)
{
    handle_t now;
    CU(cuCtxGetCurrent(&now));
    MUST(now == context);
}

static void several(void)
{
    handle_t primary, other;
    sw_layout_t *l = uneven(20, 2);
    at_t at = (uintptr_t)device_memory(1 << 16), there;
    CU(cuDevicePrimaryCtxRetain(&primary, 0));
    other = create();
    there = memory_in(other, 1 << 16);
    handle_t current[] = {NULL, primary, other};
    for (int i = 0; i < 3; i++) {
        CU(cuCtxSetCurrent(current[i]));
        MUST(carry(at, l, 1));
        current_is(current[i]);
        MUST(carry(there, l, 2));
        current_is(current[i]);
        /* No kernel of one reaches the other's memory. */
        uint64_t launches = standin.count("cuLaunchKernel");
        MUST(!sw_carry_pack(l, (void *)at, 1, 0, l->size, (void *)there));
        MUST(launches == standin.count("cuLaunchKernel"));
        current_is(current[i]);
    }
    sw_layout_drop(l);
}

/* The context ends with all that we have there, and a new one may come at its
 * address. */
static void ends_and_begins(void)
{
    sw_layout_t *l = uneven(20, 2), *k = uneven(30, 1);
    handle_t context, primary, last = NULL;
    int again = 0;
    device_memory(1);
    for (int i = 0; i < 100; i++) {
        context = create();
        again += context == last;
        last = context;
        MUST(carry(memory_in(context, 1 << 16), l, 3));
        if (i % 3 == 0) {
            sw_layout_drop(k);
            k = uneven(30, 1);
        }
        MUST(carry(memory_in(context, 1 << 16), k, 4));
        MUST(standin.destroy(context) == 0);
        /* With no context to give its table back to. */
        if (i % 5 == 0) {
            sw_layout_drop(k);
            k = uneven(30, 1);
        }
    }
    printf("%d of 100 contexts came at the address of the one before\n", again);
    for (int i = 0; i < 20; i++) {
        CU(cuDevicePrimaryCtxRetain(&primary, 0));
        at_t at = memory_in(primary, 1 << 16);
        MUST(carry(at, l, 5));
        MUST(standin.reset(0) == 0);
        CU(cuDevicePrimaryCtxRetain(&primary, 0));
        MUST(carry(memory_in(primary, 1 << 16), l, 6));
        while (standin.let_go(0) == 0)
            ;
    }
    sw_layout_drop(l);
    sw_layout_drop(k);
}

/* More contexts at once than the engine remembers. */
static void many(void)
{
    enum { N = 40 };
    static at_t at[N];
    sw_layout_t *l = uneven(20, 2);
    handle_t context;
    device_memory(1);
    for (int i = 0; i < N; i++) {
        context = create();
        at[i] = memory_in(context, 1 << 16);
    }
    for (int i = 0; i < 2 * N; i++)
        MUST(carry(at[i % N], l, 7));
    sw_layout_drop(l);
}

/* Threads ---------------------------------------------------------------- */

#define THREADS 7
#define ROUNDS (SANITIZED ? 60 : 300)

static at_t thread_memory[THREADS];
static _Atomic(sw_layout_t *) common[4];

static void *carries(void *number)
{
    int me = (int)(intptr_t)number;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        sw_layout_t *own = uneven(5 + (int)(i % 40), 1 + me % 3);
        MUST(carry(thread_memory[me], own, i + 1));
        /* Another thread drops this layout at some time. */
        sw_layout_t *old = atomic_exchange(&common[i % 4], own);
        if (old) {
            MUST(carry(thread_memory[me], old, i + 2));
            sw_layout_drop(old);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    handle_t other;
    size_t used, spare;
    device_memory(1);
    other = create();
    for (int i = 0; i < THREADS; i++)
        thread_memory[i] = i % 3 == 0 ? memory_in(other, 1 << 16)
                                      : (uintptr_t)device_memory(1 << 16);
    for (intptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, carries, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++)
        if (common[i])
            sw_layout_drop(common[i]);
    sw_tables_count(&used, &spare);
    MUST(used == 0 && spare < 100);
}

/* A layout goes while a kernel reads its table: no other takes the table's
 * memory before the kernel has ended. */
static sw_layout_t *going;
static char *whole, *part;

static void *packs(void *unused)
{
    MUST(sw_carry_pack(going, whole, 1, 0, 160, part));
    return unused;
}

static void goes_meanwhile(void)
{
    pthread_t thread;
    size_t used, spare;
    going = uneven(20, 2);
    whole = device_memory(1 << 16);
    part = device_memory(160);
    packs(NULL);
    uint64_t launches = standin.count("cuLaunchKernel");
    standin.hold();
    MUST(pthread_create(&thread, NULL, packs, NULL) == 0);
    while (standin.count("cuLaunchKernel") == launches)
        usleep(1000);
    sw_layout_drop(going);
    sw_tables_count(&used, &spare);
    MUST(used == 0 && spare == 0);
    standin.release();
    pthread_join(thread, NULL);
    sw_tables_count(&used, &spare);
    MUST(used == 0 && spare == 1);
}

/* Processes ---------------------------------------------------------------- */

static void forks(void)
{
    sw_layout_t *l = uneven(20, 2);
    at_t at = (uintptr_t)device_memory(1 << 16);
    MUST(carry(at, l, 8));
    pid_t child = fork();
    int status;
    if (child == 0) {
        char data[512];
        uint64_t before = standin.count(NULL);
        MUST(!sw_carry_pack(l, (void *)at, 1, 0, l->size, data));
        MUST(!sw_carry_unpack(NULL, (void *)at, 100, 0, 100, data));
        sw_layout_drop(l); /* its own copy of what is counted */
        MUST(standin.count(NULL) == before);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(carry(at, l, 9));
    sw_layout_drop(l);
}

/* A child may use the driver where its parent has not. */
static void forks_first(void)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        several();
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    several();
}

/* A thread is in the engine while another one forks. */
static _Atomic bool stop;

static void *goes_on(void *at)
{
    sw_layout_t *l = uneven(30, 2);
    while (!atomic_load(&stop))
        MUST(carry((uintptr_t)at, l, 10));
    sw_layout_drop(l);
    return NULL;
}

static void forks_meanwhile(void)
{
    pthread_t thread;
    sw_layout_t *l = uneven(20, 2);
    at_t at = (uintptr_t)device_memory(1 << 16);
    MUST(carry(at, l, 11));
    MUST(pthread_create(&thread, NULL, goes_on, device_memory(1 << 16)) == 0);
    for (int i = 0; i < 30; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            char data[512];
            alarm(20);
            MUST(!sw_carry_pack(l, (void *)at, 1, 0, l->size, data));
            sw_layout_drop(l);
            _exit(0);
        }
        MUST(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    sw_layout_drop(l);
}

static void own_context(void)
{
    handle_t primary;
    CU(cuDevicePrimaryCtxRetain(&primary, 0));
    CU(cuCtxSetCurrent(primary));
}

/* Captures ----------------------------------------------------------------- */

static void captures(void)
{
    sw_layout_t *l = uneven(20, 2);
    at_t at = (uintptr_t)device_memory(1 << 16);
    handle_t stream, graph;
    own_context();
    CU(cuStreamCreate(&stream, 1));
    for (int mode = 0; mode < 3; mode++) {
        MUST(standin.begin_capture(stream, mode) == 0);
        /* The first time all is made, in the capture's midst. */
        MUST(carry(at, l, 12));
        MUST(standin.end_capture(stream, &graph) == 0);
    }
    int strict = 1, now = 0;
    MUST(standin.exchange(&strict) == 0);
    MUST(carry(at, l, 13));
    MUST(standin.exchange(&now) == 0);
    MUST(now == 1);
    sw_layout_drop(l);
}

/* On a blocking stream the default one may be asked nothing either. */
static void captures_with_new_memory(void)
{
    sw_layout_t *l = uneven(20, 2);
    handle_t stream, graph;
    device_memory(1);
    own_context();
    for (unsigned flag = 0; flag < 2; flag++) {
        CU(cuStreamCreate(&stream, flag));
        for (int mode = 0; mode < 3; mode++) {
            at_t at = (uintptr_t)device_memory(1 << 16);
            MUST(standin.begin_capture(stream, mode) == 0);
            MUST(carry(at, l, 14));
            MUST(standin.end_capture(stream, &graph) == 0);
        }
    }
    sw_layout_drop(l);
}

/* Synchronous copies ------------------------------------------------------- */

/* The engine waits for the first, when it meets the memory. From then on none
 * is under way when it returns. */
static void synchronous(void)
{
    enum { N = 1000 };
    char data[N], got[N];
    at_t at = (uintptr_t)device_memory(N), other = (uintptr_t)device_memory(N);
    own_context();
    memset(data, 77, N);
    CU(cuMemcpyHtoD_v2(at, data, N));
    MUST(sw_carry_pack(NULL, (void *)at, N, 0, N, got));
    MUST(memcmp(got, data, N) == 0);
    MUST(sw_carry_pack(NULL, (void *)other, N, 0, N, got));
    for (int i = 1; i < 5; i++) {
        memset(data, i, N);
        CU(cuMemcpyHtoD_v2(at, data, N));
        MUST(sw_carry_pack(NULL, (void *)at, N, 0, N, got));
        MUST(memcmp(got, data, N) == 0);
        CU(cuMemcpyDtoD_v2(other, at, N));
        MUST(sw_carry_pack(NULL, (void *)other, N, 0, N, got));
        MUST(memcmp(got, data, N) == 0);
        CU(cuMemsetD8_v2(at, (unsigned char)(100 + i), N));
        memset(data, 100 + i, N);
        MUST(sw_carry_pack(NULL, (void *)at, N, 0, N, got));
        MUST(memcmp(got, data, N) == 0);
    }
    MUST(standin.count("cuPointerSetAttribute") == 2);
}

int main(void)
{
    make_kernels();
    alone(captures_with_new_memory, "captures, new memory", "", "0");
    alone(synchronous, "synchronous copies", "", "3000");
    alone(several, "several contexts", "", "0");
    alone(ends_and_begins, "contexts end and begin", "", "0");
    alone(many, "many contexts", "", "0");
    alone(threads, "threads", "", "0");
    alone(threads, "threads, late", "", "50");
    alone(goes_meanwhile, "a layout goes meanwhile", "", "0");
    if (!THREAD_SANITIZED) {
        alone(forks, "forks", "", "0");
        alone(forks_first, "forks first", "", "0");
        alone(forks_meanwhile, "forks meanwhile", "", "0");
    }
    alone(captures, "captures", "", "0");
    remove_kernels();
    return 0;
}
