/*
 * Streams of the stand-in for CUDA's driver are asynchronous, and keep no order
 * but the one that CUDA promises: within a stream, by events, and around the
 * default stream.
 */
#include "driven.h"

#include <time.h>

static handle_t stream_of(unsigned flags)
{
    handle_t s;
    CU(cuStreamCreate(&s, flags));
    return s;
}

static handle_t event_of(unsigned flags)
{
    handle_t e;
    CU(cuEventCreate(&e, flags));
    return e;
}

/* A stream stands before a gate until the test opens it. */
typedef struct {
    unsigned flag, unused;
    long long done[2];
} gate_t;

static gate_t *gate(handle_t on)
{
    gate_t *g;
    unsigned side = 1, turns = 1;
    long long most = 20000000000;
    CU(cuMemHostAlloc((void **)&g, sizeof *g, 3));
    void *flag = &g->flag, *done = g->done;
    void *parameter[] = {&flag, &side, &turns, &most, &done};
    g->flag = 0;
    CU(cuLaunchKernel(kernel("probe_turns"), 1, 1, 1, 1, 1, 1, 0, on, parameter,
                      NULL));
    return g;
}

static void open_gate(gate_t *g)
{
    __atomic_store_n(&g->flag, 1, __ATOMIC_RELEASE);
}

/* Keep a stream busy for some milliseconds. */
static void busy(handle_t on, long long ms)
{
    long long ticks = ms * 1000000;
    void *parameter[] = {&ticks};
    CU(cuLaunchKernel(kernel("probe_busy"), 1, 1, 1, 1, 1, 1, 0, on, parameter,
                      NULL));
}

static at_t filled(unsigned char byte, size_t bytes)
{
    at_t at = allocate(bytes);
    CU(cuMemsetD8_v2(at, byte, bytes));
    CU(cuCtxSynchronize());
    return at;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* While streams stand still, nothing has happened; then all in order. */
static void order(void)
{
    driven_start();
    at_t a = filled(1, 1000), b = filled(2, 1000);
    standin.hold();
    for (int i = 3; i < 50; i++) {
        CU(cuMemsetD8Async(a, (unsigned char)i, 1000, stream));
        CU(cuMemcpyDtoDAsync_v2(b, a, 1000, stream));
    }
    CODE(600, cuStreamQuery(stream));
    MUST(*seen(a) == 1 && *seen(b) == 2);
    standin.release();
    CU(cuStreamSynchronize(stream));
    CU(cuStreamQuery(stream));
    MUST(seen(a)[999] == 49 && seen(b)[999] == 49);
}

/* A copy that does not wait for the event has the bytes from before. */
static void events(void)
{
    driven_start();
    at_t a = filled(1, 100), stale = allocate(100), fresh = filled(0, 100);
    handle_t other = stream_of(1), third = stream_of(1);
    handle_t event = event_of(NO_TIMING), never = event_of(NO_TIMING);
    CU(cuEventQuery(never));
    CU(cuStreamWaitEvent(other, never, 0));
    gate_t *g = gate(stream);
    CU(cuMemsetD8Async(a, 2, 100, stream));
    CU(cuEventRecord(event, stream));
    CU(cuStreamWaitEvent(third, event, 0));
    CU(cuMemcpyDtoDAsync_v2(stale, a, 100, other));
    CU(cuMemcpyDtoDAsync_v2(fresh, a, 100, third));
    CU(cuStreamSynchronize(other));
    CODE(600, cuStreamQuery(third));
    CODE(600, cuEventQuery(event));
    MUST(*seen(stale) == 1 && *seen(fresh) == 0);
    open_gate(g);
    CU(cuStreamSynchronize(third));
    CU(cuEventSynchronize(event));
    MUST(*seen(stale) == 1 && *seen(fresh) == 2);
    /* A wait is for the record that there was at the call. */
    g = gate(stream);
    CU(cuStreamWaitEvent(other, event, 0));
    CU(cuEventRecord(event, stream));
    CU(cuStreamSynchronize(other));
    CODE(600, cuEventQuery(event));
    open_gate(g);
    CU(cuEventDestroy_v2(event));
    CU(cuStreamSynchronize(stream));
}

static void times(void)
{
    float ms = 0;
    driven_start();
    handle_t a = event_of(0), b = event_of(0), c = event_of(NO_TIMING);
    CODE(400, cuEventElapsedTime(&ms, a, b));
    CU(cuEventRecord(a, stream));
    CU(cuEventSynchronize(a));
    gate_t *g = gate(stream);
    CU(cuEventRecord(b, stream));
    CU(cuEventRecord(c, stream));
    CODE(600, cuEventElapsedTime(&ms, a, b));
    usleep(10000);
    open_gate(g);
    CU(cuEventSynchronize(b));
    CU(cuEventElapsedTime(&ms, a, b));
    MUST(ms >= 10);
    CODE(400, cuEventElapsedTime(&ms, a, c));
}

/* The default stream waits for blocking streams alone, and they for it. */
static void default_stream(void)
{
    unsigned char byte = 0;
    driven_start();
    at_t a = filled(1, 100), b = filled(0, 100), c = filled(0, 100);
    handle_t blocking = stream_of(0), other = stream_of(0);
    gate_t *g = gate(blocking);
    CU(cuMemsetD8Async(a, 2, 100, blocking));
    CU(cuMemcpyDtoDAsync_v2(b, a, 100, NULL));
    CU(cuMemcpyDtoDAsync_v2(c, a, 100, stream));
    CU(cuStreamSynchronize(stream));
    CODE(600, cuStreamQuery(NULL));
    MUST(*seen(b) == 0 && *seen(c) == 1);
    open_gate(g);
    CU(cuMemcpyDtoH_v2(&byte, a, 1));
    MUST(byte == 2 && *seen(b) == 2);
    g = gate(stream);
    CU(cuMemsetD8Async(b, 3, 100, stream));
    CU(cuMemcpyDtoH_v2(&byte, b, 1));
    MUST(byte == 2);
    open_gate(g);
    CU(cuStreamSynchronize(stream));
    g = gate(NULL);
    CU(cuMemsetD8Async(a, 4, 100, NULL));
    CU(cuMemcpyDtoDAsync_v2(b, a, 100, stream));
    CU(cuMemcpyDtoDAsync_v2(c, a, 100, other));
    CU(cuStreamSynchronize(stream));
    CODE(600, cuStreamQuery(other));
    open_gate(g);
    CU(cuStreamSynchronize(other));
    MUST(*seen(b) == 2 && *seen(c) == 4);
}

/* When a copy takes the bytes of the host, and when it returns. */
static void host_memory(void)
{
    unsigned char pageable = 1, got = 0, *pinned;
    driven_start();
    CU(cuMemHostAlloc((void **)&pinned, 100, 3));
    at_t a = filled(0, 100), b = filled(0, 100);
    *pinned = 1;
    standin.hold();
    CU(cuMemcpyHtoDAsync_v2(a, &pageable, 1, stream));
    CU(cuMemcpyHtoDAsync_v2(b, pinned, 1, stream));
    CU(cuMemcpyHtoD_v2(a + 1, &pageable, 1)); /* returns before the bytes */
    CU(cuMemcpyDtoD_v2(b + 1, a + 1, 1));
    pageable = *pinned = 2;
    MUST(seen(a)[1] == 0);
    standin.release();
    CU(cuCtxSynchronize());
    MUST(seen(a)[0] == 1 && seen(b)[0] == 2 && seen(b)[1] == 1);
    busy(stream, 20);
    CU(cuMemsetD8Async(a, 5, 1, stream));
    CU(cuMemcpyDtoHAsync_v2(&got, a, 1, stream));
    MUST(got == 5);
    gate_t *g = gate(stream);
    CU(cuMemsetD8Async(a, 6, 1, stream));
    CU(cuMemcpyDtoHAsync_v2(pinned, a, 1, stream));
    CODE(600, cuStreamQuery(stream));
    open_gate(g);
    CU(cuStreamSynchronize(stream));
    MUST(*pinned == 6);
}

static void cubes(void)
{
    unsigned char from[4 * 5 * 6], to[2 * 3 * 2] = {0};
    driven_start();
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)i;
    at_t at = allocate(sizeof from);
    CU(cuMemcpyHtoD_v2(at, from, sizeof from));
    CU(cuCtxSynchronize());
    cube_copy_t cube = {
        .source = {.x = 1,
                   .y = 2,
                   .z = 3,
                   .type = DEVICE_MEMORY,
                   .device = at,
                   .pitch = 4,
                   .height = 5},
        .target = {.type = 1, .host = to, .pitch = 2, .height = 3},
        .width = 2,
        .height = 3,
        .depth = 2};
    CU(cuMemcpy3DAsync_v2(&cube, stream));
    for (size_t i = 0; i < sizeof to; i++)
        MUST(to[i] == from[(3 + i / 6) * 20 + (2 + i / 2 % 3) * 4 + 1 + i % 2]);
    plane_copy_t plane = {
        .source = {.type = 1, .host = from, .pitch = 10},
        .target = {.type = DEVICE_MEMORY, .device = at, .pitch = 3},
        .width = 3,
        .height = 4};
    CU(cuMemcpy2DAsync_v2(&plane, stream));
    CU(cuStreamSynchronize(stream));
    for (size_t i = 0; i < 12; i++)
        MUST(seen(at)[i] == from[i / 3 * 10 + i % 3]);
}

/* What is under way ends before its memory goes. */
static void freeing(void)
{
    driven_start();
    at_t a = allocate(MIB), b = filled(0, MIB);
    CU(cuMemsetD8_v2(a, 3, MIB));
    busy(stream, 20);
    CU(cuMemcpyDtoDAsync_v2(b, a, MIB, stream));
    CU(cuMemFree_v2(a));
    MUST(seen(b)[MIB - 1] == 3);
    at_t pool;
    CU(cuMemAllocAsync(&pool, 100, stream));
    CU(cuMemsetD8Async(pool, 4, 100, stream));
    CU(cuMemcpyDtoDAsync_v2(b, pool, 100, stream));
    CU(cuMemFreeAsync(pool, stream));
    CU(cuStreamSynchronize(stream));
    MUST(*seen(b) == 4 && !seen(pool));
    /* A stream that was destroyed ends its work. */
    handle_t other = stream_of(1), event = event_of(0);
    busy(other, 20);
    CU(cuMemsetD8Async(b, 5, 100, other));
    CU(cuEventRecord(event, other));
    CU(cuStreamDestroy_v2(other));
    CU(cuEventSynchronize(event));
    MUST(*seen(b) == 5);
}

static void delays(void)
{
    driven_start();
    at_t a = allocate(100);
    double begin = now();
    CU(cuMemsetD8Async(a, 1, 100, stream));
    CU(cuMemsetD8Async(a, 2, 100, stream));
    CU(cuStreamSynchronize(stream));
    MUST(now() - begin >= 0.06);
}

/* Captures --------------------------------------------------------------- */

enum { GLOBAL, LOCAL, RELAXED };

/* A call that a capture forbids, made after a mode was set. */
static void *unsafe(void *how)
{
    int mode = *(int *)how, code;
    at_t at;
    CU(cuCtxSetCurrent(context));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(mode == GLOBAL);
    code = cuda.cuMemAlloc_v2(&at, 100);
    *(int *)how = code;
    return NULL;
}

static int unsafe_elsewhere(int mode)
{
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, unsafe, &mode) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    return mode;
}

static void captures(void)
{
    handle_t graph, mine = NULL;
    int status, mode = RELAXED;
    at_t at;
    driven_start();
    handle_t blocking = stream_of(0);
    at_t a = filled(1, 100), b = filled(1, 100);
    /* What is captured does not run. A relaxed library does no harm. */
    CU(cuStreamBeginCapture_v2(blocking, GLOBAL));
    CU(cuMemsetD8Async(a, 2, 100, blocking));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(mode == GLOBAL);
    CU(cuMemAlloc_v2(&at, 100));
    CU(cuMemsetD8Async(b, 2, 100, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(mode == RELAXED && unsafe_elsewhere(RELAXED) == 0);
    MUST(unsafe_elsewhere(LOCAL) == 0);
    CU(cuStreamIsCapturing(blocking, &status));
    MUST(status == 1);
    CU(cuStreamEndCapture(blocking, &graph));
    CU(cuCtxSynchronize());
    MUST(graph && *seen(a) == 1 && *seen(b) == 2);
    /* One that is not breaks the capture, of a thread beside it as well. */
    CU(cuStreamBeginCapture_v2(blocking, GLOBAL));
    MUST(unsafe_elsewhere(GLOBAL) == 900);
    CU(cuStreamIsCapturing(blocking, &status));
    MUST(status == 2);
    CODE(901, cuStreamEndCapture(blocking, &graph));
    CU(cuStreamBeginCapture_v2(blocking, LOCAL));
    MUST(unsafe_elsewhere(GLOBAL) == 0);
    CODE(900, cuMemAlloc_v2(&at, 100));
    CODE(901, cuStreamEndCapture(blocking, &graph));
    /* The default stream is no place beside a capture, however relaxed. */
    CU(cuStreamBeginCapture_v2(blocking, RELAXED));
    CODE(906, cuMemsetD8Async(b, 3, 100, mine));
    CODE(901, cuStreamEndCapture(blocking, &graph));
    CU(cuMemAlloc_v2(&at, 100));
}

/* Threads ---------------------------------------------------------------- */

#define ROUNDS 60

static void *work(void *number)
{
    size_t bytes = 2000;
    unsigned char *pinned, k = (unsigned char)(uintptr_t)number;
    CU(cuCtxSetCurrent(context));
    handle_t s = stream_of(k % 2), e = event_of(NO_TIMING);
    CU(cuMemHostAlloc((void **)&pinned, bytes, 3));
    for (int i = 0; i < ROUNDS; i++) {
        at_t a = allocate(bytes), b = allocate(bytes);
        memset(pinned, k + i, bytes);
        CU(cuMemcpyHtoDAsync_v2(a, pinned, bytes, s));
        CU(cuMemcpyDtoDAsync_v2(b, a, bytes, s));
        CU(cuMemsetD8Async(a, 0, bytes, s));
        CU(cuMemcpyDtoHAsync_v2(pinned, b, bytes, s));
        CU(cuEventRecord(e, s));
        while (cuda.cuEventQuery(e))
            ;
        MUST(pinned[0] == (unsigned char)(k + i));
        MUST(pinned[bytes - 1] == (unsigned char)(k + i));
        CU(cuMemFree_v2(a));
        CU(cuMemFree_v2(b));
    }
    CU(cuMemFreeHost(pinned));
    CU(cuStreamDestroy_v2(s));
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    driven_start();
    for (uintptr_t i = 0; i < 4; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)(i * 50)) == 0);
    for (int i = 0; i < 4; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

int main(void)
{
    ALONE(order);
    ALONE(events);
    ALONE(times);
    ALONE(default_stream);
    ALONE(host_memory);
    ALONE(cubes);
    ALONE(freeing);
    ALONE_WITH(delays, "STANDIN_DELAY", "30000");
    ALONE(captures);
    ALONE(threads);
    return 0;
}
