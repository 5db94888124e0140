/*
 * Memory of a device between two processes: what one exports, the other opens,
 * reads and writes; handles and openings are remembered; memory that was freed
 * and made again is told apart; what the driver refuses, and words that are
 * wrong, are refused.
 */
#include "carried.h"

#include <sys/socket.h>

#include "device/ipc.h"
#include "sanitized.h"

#define SIZE 100000

static int line; /* the socket to the other process */

static void tell(const void *what, size_t bytes)
{
    MUST(write(line, what, bytes) == (ssize_t)bytes);
}

static void hear(void *what, size_t bytes)
{
    MUST(recv(line, what, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

/* The two are at the same place. */
static void meet(void)
{
    char word = 'm';
    tell(&word, 1);
    hear(&word, 1);
    MUST(word == 'm');
}

/* The processes part before either has called the driver. */
static void pair(void (*owner)(void), void (*peer)(void))
{
    int end[2], status;
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
    pid_t child = fork();
    line = end[child != 0];
    close(end[child == 0]);
    if (child == 0) {
        alarm(100);
        owner();
        MUST(standin.faults() == 0);
        _exit(0);
    }
    peer();
    close(line);
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void fill(char *device, char first, size_t bytes)
{
    char *at = seen(device);
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(first + (char)(i * 7));
}

/* Are the n bytes at an opened address the fill's, from its byte `from` on? */
static bool reads(const void *opened, char first, size_t from, size_t n)
{
    static char data[SIZE];
    MUST(n <= SIZE);
    if (!sw_carry_pack(NULL, opened, (int64_t)n, 0, n, data))
        return false;
    for (size_t i = 0; i < n; i++)
        if (data[i] != (char)(first + (char)((from + i) * 7)))
            return false;
    return true;
}

static sw_ipc_t export(const char *at, size_t bytes)
{
    sw_ipc_t place;
    MUST(sw_ipc_export(at, bytes, &place));
    return place;
}

/* A context for the process that only opens. */
static void own_context(void)
{
    device_memory(1);
}

/* Opened, read, written ------------------------------------------------- */

static void owns(void)
{
    char *at = device_memory(SIZE);
    fill(at, 3, SIZE);
    sw_ipc_t whole = export(at, SIZE), part = export(at + 4321, 1000);
    MUST(standin.count("cuIpcGetMemHandle") == 1);
    tell(&whole, sizeof whole);
    tell(&part, sizeof part);
    meet();
    MUST(seen(at)[4321] == 'x' && seen(at)[4321 + 999] == 'x');
    MUST(seen(at)[4320] == (char)(3 + (char)(4320 * 7)));
    meet();
}

static void opens(void)
{
    sw_ipc_t whole, part;
    char data[1000];
    hear(&whole, sizeof whole);
    hear(&part, sizeof part);
    own_context();
    char *a = sw_ipc_open(&whole, 1, NULL), *b = sw_ipc_open(&part, 1, NULL);
    MUST(a && b == a + 4321);
    MUST(standin.count("cuIpcOpenMemHandle_v2") == 1);
    MUST(sw_ipc_openings() == 1);
    MUST(reads(a, 3, 0, SIZE) && reads(b, 3, 4321, 1000));
    memset(data, 'x', sizeof data);
    MUST(sw_carry_unpack(NULL, b, 1000, 0, 1000, data));
    sw_ipc_done(a);
    sw_ipc_done(b);
    meet();
    /* Another context has an opening of its own. */
    handle_t other;
    MUST(standin.create(&other, 0, 0) == 0);
    char *c = sw_ipc_open(&whole, 1, NULL);
    MUST(!c || sw_ipc_openings() == 2);
    sw_ipc_done(c);
    MUST(standin.destroy(other) == 0);
    /* What was opened is not exported. */
    MUST(!sw_ipc_export(a, 10, &part));
    meet();
}

/* For a copy to memory of another context than the current one. */

static void owns_one(void)
{
    char *at = device_memory(SIZE);
    fill(at, 5, SIZE);
    sw_ipc_t place = export(at, SIZE);
    tell(&place, sizeof place);
    meet();
}

static void opens_beside(void)
{
    sw_ipc_t place;
    handle_t other;
    at_t own;
    hear(&place, sizeof place);
    own_context();
    MUST(standin.create(&other, 0, 0) == 0);
    CU(cuMemAlloc_v2(&own, SIZE));
    CU(cuCtxSetCurrent(NULL));
    sw_carry_side_t target = {.at = (void *)own, .count = SIZE};
    sw_carry_side_t source = {
        .at = sw_ipc_open(&place, 1, sw_carry_lowest(&target, NULL)),
        .count = SIZE};
    MUST(source.at && sw_carry(&source, &target, SIZE));
    MUST(!memcmp(seen((void *)own), seen(source.at), SIZE));
    sw_ipc_done(source.at);
    handle_t now = &now;
    CU(cuCtxGetCurrent(&now));
    MUST(!now);
    MUST(standin.destroy(other) == 0);
    meet();
}

static void beside(void)
{
    pair(owns_one, opens_beside);
}

/* Freed and made again ----------------------------------------------------- */

#define LIVES 20

static void owns_again(void)
{
    handle_t context;
    int same = 0;
    at_t at = 0, last = 0;
    device_memory(1);
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < LIVES; i++) {
        CU(cuMemAlloc_v2(&at, 4 << 20));
        same += at == last;
        fill((char *)at, (char)i, SIZE);
        sw_ipc_t place = export((char *)at + 64, SIZE - 64);
        tell(&place, sizeof place);
        meet();
        CU(cuMemFree_v2(at));
        last = at;
    }
    printf("%d of %d allocations came at the address of the one before\n", same,
           LIVES);
    MUST(same > LIVES / 2);
    meet();
}

static void opens_again(void)
{
    void *held = NULL;
    own_context();
    for (int i = 0; i < LIVES; i++) {
        sw_ipc_t place;
        hear(&place, sizeof place);
        void *at = sw_ipc_open(&place, 0, NULL);
        MUST(at && reads(at, (char)i, 64, SIZE - 64));
        /* Each third is held while the next one comes. */
        MUST(sw_ipc_openings() == 1 + (held != NULL));
        if (held) {
            MUST(reads(held, (char)(i - 1), 64, SIZE - 64));
            sw_ipc_done(held);
            held = NULL;
        }
        if (i % 3 == 0)
            held = at;
        else
            sw_ipc_done(at);
        meet();
    }
    meet();
}

/* Many ------------------------------------------------------------------ */

#define MANY (SW_IPC_OPENINGS + 20)

static void owns_many(void)
{
    for (int i = 0; i < MANY; i++) {
        char *at = device_memory(3000);
        fill(at, (char)i, 3000);
        sw_ipc_t place = export(at, 3000);
        tell(&place, sizeof place);
    }
    meet();
}

static void opens_many(void)
{
    sw_ipc_t place[MANY];
    void *at[MANY];
    own_context();
    for (int i = 0; i < MANY; i++)
        hear(&place[i], sizeof place[i]);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++) {
            at[i] = sw_ipc_open(&place[i], 2, NULL);
            MUST(at[i] && reads(at[i], (char)i, 0, 3000));
            sw_ipc_done(at[i]);
            MUST(sw_ipc_openings() <= SW_IPC_OPENINGS);
        }
    /* The last one rests, and is still open; the first is opened again. */
    uint64_t before = standin.count("cuIpcOpenMemHandle_v2");
    sw_ipc_done(sw_ipc_open(&place[MANY - 1], 2, NULL));
    MUST(standin.count("cuIpcOpenMemHandle_v2") == before);
    sw_ipc_done(sw_ipc_open(&place[0], 2, NULL));
    MUST(standin.count("cuIpcOpenMemHandle_v2") == before + 1);
    /* All are in use: one more is refused. */
    for (int i = 0; i < SW_IPC_OPENINGS; i++)
        MUST(at[i] = sw_ipc_open(&place[i], 2, NULL));
    MUST(!sw_ipc_open(&place[SW_IPC_OPENINGS], 2, NULL));
    for (int i = 0; i < SW_IPC_OPENINGS; i++)
        MUST(reads(at[i], (char)i, 0, 3000));
    sw_ipc_done(at[5]);
    MUST(sw_ipc_open(&place[SW_IPC_OPENINGS], 2, NULL));
    meet();
}

/* Refused ------------------------------------------------------------------ */

static void owns_what_is_refused(void)
{
    handle_t context, stream;
    at_t pool, managed;
    void *pinned;
    char here[100], *at = device_memory(SIZE);
    sw_ipc_t place;
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&stream, 1));
    CU(cuMemAllocAsync(&pool, 1000, stream));
    CU(cuMemAllocManaged(&managed, 1000, 1));
    CU(cuMemHostAlloc(&pinned, 1000, 0));
    MUST(!sw_ipc_export((void *)pool, 10, &place));
    MUST(!sw_ipc_export((void *)managed, 10, &place));
    MUST(!sw_ipc_export(pinned, 10, &place));
    MUST(!sw_ipc_export(here, 10, &place));
    MUST(!sw_ipc_export(NULL, 10, &place));
    MUST(!sw_ipc_export(at + 1, SIZE, &place));
    MUST(!sw_ipc_export(at + SIZE, 1, &place));
    fill(at, 9, SIZE);
    place = export(at, SIZE);
    MUST(!sw_ipc_open(&place, 0, NULL)); /* one's own */
    /* A child leaves the driver alone. */
    pid_t child = fork();
    int status;
    if (child == 0) {
        MUST(!sw_ipc_export(at, 10, &place));
        MUST(!sw_ipc_open(&place, 0, NULL));
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    tell(&place, sizeof place);
    meet();
}

static void opens_what_is_refused(void)
{
    sw_ipc_t place, wrong;
    hear(&place, sizeof place);
    MUST(!sw_ipc_open(&place, 0, NULL)); /* no context */
    own_context();
    wrong = place;
    wrong.offset = place.bytes;
    MUST(!sw_ipc_open(&wrong, 0, NULL));
    wrong = place;
    wrong.bytes *= 2;
    wrong.offset = place.bytes + 5;
    MUST(!sw_ipc_open(&wrong, 0, NULL));
    wrong = place;
    memset(wrong.handle, 0x55, sizeof wrong.handle);
    MUST(!sw_ipc_open(&wrong, 0, NULL));
    wrong = place;
    wrong.id = 0;
    MUST(!sw_ipc_open(&wrong, 0, NULL));
    MUST(sw_ipc_openings() == 0);
    void *at = sw_ipc_open(&place, 0, NULL);
    MUST(at && reads(at, 9, 0, SIZE));
    /* Wrong words of what is open already. */
    wrong = place;
    wrong.bytes *= 2;
    wrong.offset = place.bytes + 5;
    MUST(!sw_ipc_open(&wrong, 0, NULL));
    meet();
    /* The owner ends, and its memory stays. */
    usleep(100000);
    MUST(reads(at, 9, 0, SIZE));
    sw_ipc_done(at);
}

static void shares(void)
{
    pair(owns, opens);
}

static void begins_again(void)
{
    MUST(setenv("STANDIN_REUSE", "1", 1) == 0);
    pair(owns_again, opens_again);
}

static void opens_too_many(void)
{
    pair(owns_many, opens_many);
}

static void refuses(void)
{
    pair(owns_what_is_refused, opens_what_is_refused);
}

/* Calls that fail ---------------------------------------------------------- */

static void owns_plainly(void)
{
    sw_ipc_t place = {.id = 0};
    char *at = device_memory(SIZE);
    fill(at, 4, SIZE);
    for (int i = 0; i < 4; i++) {
        bool done = sw_ipc_export(at, SIZE, &place);
        tell(&done, sizeof done);
        tell(&place, sizeof place);
    }
    meet();
}

/* It is opened and right, or refused. */
static void opens_plainly(void)
{
    own_context();
    for (int i = 0; i < 4; i++) {
        bool done;
        sw_ipc_t place;
        hear(&done, sizeof done);
        hear(&place, sizeof place);
        void *at = done ? sw_ipc_open(&place, 0, NULL) : NULL;
        if (at && reads(at, 4, 0, SIZE))
            MUST(sw_ipc_openings() == 1);
        sw_ipc_done(at);
    }
    meet();
}

static void fails(void)
{
    pair(owns_plainly, opens_plainly);
}

int main(void)
{
    static const char *const call[] = {"cuIpcGetMemHandle",
                                       "cuIpcOpenMemHandle",
                                       "cuIpcCloseMemHandle",
                                       "cuCtxGetCurrent",
                                       "cuCtxPushCurrent",
                                       "cuPointerGetAttributes",
                                       "cuCtxGetId",
                                       "cuCtxPopCurrent",
                                       "cuDevicePrimaryCtxRetain",
                                       "cuDeviceGet",
                                       "cuDevicePrimaryCtxGetState"};
    char refuse[100];
    make_kernels();
    alone(shares, "shares", "", "0");
    alone(beside, "beside", "", "0");
    alone(begins_again, "begins again", "", "0");
    alone(opens_too_many, "opens too many", "", "0");
    alone(refuses, "refuses", "", "0");
    for (size_t i = 0; i < sizeof call / sizeof *call && !SANITIZED; i++)
        for (int from = 1; from < 4; from++) {
            snprintf(refuse, sizeof refuse, "%s:=%d", call[i], from);
            alone(fails, call[i], refuse, "0");
            snprintf(refuse, sizeof refuse, "%s:%d", call[i], from);
            alone(fails, call[i], refuse, "0");
        }
    remove_kernels();
    return 0;
}
