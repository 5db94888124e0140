/*
 * peer.c - a process is attached if it is what its card says, and only then:
 * a wrong token, a recycled pid or a descriptor of something else is refused.
 * What the system forbids costs a way to reach its memory, never more.
 *
 * The peer is a forked child with an arena and a segment of its own, which
 * answers by a page that both share.
 */
#include "node/arena/arena.h"
#include "node/os/os.h"
#include "node/peer.h"
#include "node/base/settings.h"

#include "cma.h"
#include "smaps.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

#define BYTES 200000

typedef struct {
    sw_card_t card;
    sw_part_t open, hidden; /* memory in the arena, and private memory */
    _Atomic int ready;
} page_t;

static page_t *page;

static void start(void)
{
    sw_settings.arena_size = (size_t)1 << 30;
    sw_settings.pool_size = (size_t)1 << 28;
    sw_arena_start();
}

/* Which of its descriptors the peer's program uses anew, and when. */
typedef enum { NOTHING, ARENA, CONTROL } reuse_t;
typedef enum { BEFORE_CARD, AFTER_CARD } reuse_time_t;
static reuse_t reuse_what;
static reuse_time_t reuse_when;
static int reuse_file;

static void reuse(reuse_time_t now)
{
    if (reuse_what == NOTHING || reuse_when != now)
        return;
    int fd = reuse_what == ARENA ? sw_arena.fd : sw_segment()->fd;
    if (fd < 0 || dup2(reuse_file, fd) != fd)
        _exit(2);
}

/* The peer: offers two buffers and waits to be killed. */
static void peer_life(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    start();
    reuse(BEFORE_CARD);
    char *p = sw_arena_alloc_shared(BYTES, 64), *q = malloc(BYTES);
    if (!sw_peer_card(&page->card) || !q)
        _exit(1);
    memset(q, 2, BYTES);
    page->hidden = (sw_part_t){
        .address = (uint64_t)(uintptr_t)q, .bytes = BYTES, .form = SW_FORM_CMA};
    if (p) {
        memset(p, 1, BYTES);
        page->open = (sw_part_t){.address = sw_arena_offset(p, BYTES),
                                 .bytes = BYTES,
                                 .form = SW_FORM_ARENA};
    }
    reuse(AFTER_CARD);
    atomic_store(&page->ready, 1);
    for (;;)
        pause();
}

static pid_t make_peer(void)
{
    memset(page, 0, sizeof *page);
    pid_t pid = fork();
    if (pid == 0)
        peer_life();
    for (int i = 0; pid > 0 && !atomic_load(&page->ready); i++) {
        usleep(500);
        if (i > 20000)
            fail("the peer does not come up");
    }
    if (pid < 0)
        fail("fork");
    return pid;
}

static void end_peer(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

/* Read, write and read again, at odd places and of no bytes. */
static void check_part(const sw_peer_t *peer, const sw_part_t *part, char value)
{
    static char got[BYTES], put[1001];
    memset(got, 0, sizeof got);
    if (sw_peer_read(peer, part, 3, got, BYTES - 3))
        fail("read");
    for (int i = 0; i < BYTES - 3; i++)
        if (got[i] != value)
            fail("byte %d is %d", i, got[i]);
    memset(put, 77, sizeof put);
    if (sw_peer_write(peer, part, 501, put, sizeof put) ||
        sw_peer_read(peer, part, 500, got, sizeof put + 2))
        fail("write");
    if (got[0] != value || got[sizeof put + 1] != value ||
        memcmp(got + 1, put, sizeof put))
        fail("what was written is not there");
    if (sw_peer_read(peer, part, BYTES, got, 0) ||
        sw_peer_write(peer, part, BYTES, got, 0))
        fail("no bytes");
}

static void all_well(void)
{
    pid_t pid = make_peer();
    sw_card_t mine;
    start();
    if (!sw_peer_card(&mine) || mine.pid != getpid() || mine.processors < 1)
        fail("our own card");
    sw_peer_t *self = sw_peer_attach(&mine);
    if (!self || !self->self || !sw_peer_control(self))
        fail("ourselves");
    sw_peer_t *peer = sw_peer_attach(&page->card);
    if (!peer || peer->self || !peer->arena || peer->cma != knows_cma())
        fail("attach");
    if (sw_peer_attach(&page->card) != peer)
        fail("met twice");
    check_part(peer, &page->open, 1);
    if (peer->cma)
        check_part(peer, &page->hidden, 2);
    if (sw_os_heeds_advice() && !left_out(peer->arena, 1, NULL))
        fail("a core dump holds the peer's arena");
    if (!sw_peer_control(peer) ||
        (sw_os_heeds_advice() && !left_out(peer->control, 1, NULL)) ||
        memcmp(peer->control, &page->card.token, sizeof(sw_token_t)))
        fail("its control segment");
    if (sw_peer_crowd() <= 0)
        fail("crowd");
    sw_part_t none = {.form = SW_FORM_NONE};
    char byte;
    if (sw_peer_read(peer, &none, 0, &byte, 1) != -1)
        fail("nothing was read");
    end_peer(pid);
    /* Its memory can be mapped beyond its death, but not read by CMA. */
    if (sw_peer_read(peer, &page->hidden, 0, &byte, 1) != -1)
        fail("a dead process was read");
}

static void impostors(void)
{
    pid_t pid = make_peer();
    sw_card_t card = page->card;
    start();
    card.token.word[1] ^= 1;
    if (sw_peer_attach(&card))
        fail("a wrong token was believed");
    card = page->card;
    card.pid = getppid();
    if (sw_peer_attach(&card))
        fail("another process was taken for it");
    card = page->card;
    card.control_fd = 0;
    if (sw_peer_attach(&card))
        fail("another file was taken for its segment");
    card = page->card;
    card.control_fd = 100000;
    if (sw_peer_attach(&card))
        fail("a closed descriptor");
    card = page->card;
    card.control_span = 0;
    if (sw_peer_attach(&card))
        fail("a card without a segment");
    card = page->card;
    card.proof += 4096 * 16; /* memory with something else in it */
    sw_peer_t *peer = sw_peer_attach(&card);
    if (!peer || peer->cma)
        fail("CMA was believed without its proof");
    end_peer(pid);
    card = page->card;
    card.token.word[0] ^= 1;
    if (sw_peer_attach(&card))
        fail("a dead process was attached");
}

/* The peer's program has put its own file in place of a descriptor of ours:
 * no process maps or even opens it (a device might act on that). */
static void reused(reuse_t what, reuse_time_t when)
{
    char path[] = "/tmp/straightway-peer-XXXXXX", text[16] = "", event[4096];
    int fd = mkstemp(path), watch = inotify_init1(IN_NONBLOCK);
    if (fd < 0 || watch < 0 || write(fd, "the program's", 13) != 13 ||
        ftruncate(fd, (off_t)1 << 31) ||
        inotify_add_watch(watch, path, IN_OPEN | IN_MODIFY) < 0)
        fail("the program's file");
    reuse_file = fd;
    reuse_what = what;
    reuse_when = when;
    pid_t pid = make_peer();
    sw_peer_t *peer = sw_peer_attach(&page->card);
    if ((peer != NULL) != (what == ARENA) || (peer && peer->arena))
        fail("the program's file was taken for ours");
    if (peer && peer->cma != knows_cma())
        fail("its private memory is out of reach");
    if (peer && peer->cma)
        check_part(peer, &page->hidden, 2);
    if (read(watch, event, sizeof event) > 0)
        fail("the program's file was opened");
    if (pread(fd, text, 15, 0) != 15 || strcmp(text, "the program's"))
        fail("the program's file was written to");
    unlink(path);
    end_peer(pid);
}

/* What is left when a door is closed to us. */
static void closed(const char *doors, bool attach, bool arena, bool cma)
{
    pid_t pid = make_peer();
    sw_settings.refuse = doors; /* to this process, not to its peer */
    sw_peer_t *peer = sw_peer_attach(&page->card);
    if ((peer != NULL) != attach || (peer && (!peer->arena == arena)) ||
        (peer && peer->cma != (cma && knows_cma())))
        fail("with %s refused", doors);
    if (peer && peer->arena)
        check_part(peer, &page->open, 1);
    if (peer && peer->cma)
        check_part(peer, &page->hidden, 2);
    end_peer(pid);
}

static void no_card(void)
{
    sw_card_t card;
    sw_settings.refuse = "memfd";
    if (sw_peer_card(&card))
        fail("a card without a segment");
}

/* Each in a process of its own: peers once met are remembered. */
#define apart(call)                                                    \
    do {                                                               \
        int status_;                                                   \
        pid_t pid_ = fork();                                           \
        if (pid_ == 0) {                                               \
            alarm(60);                                                 \
            call;                                                      \
            exit(0);                                                   \
        }                                                              \
        if (pid_ < 0 || waitpid(pid_, &status_, 0) != pid_ || status_) \
            fail("%s", #call);                                         \
    } while (0)

int main(void)
{
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    apart(all_well());
    apart(impostors());
    apart(no_card());
    apart(reused(ARENA, BEFORE_CARD));
    apart(reused(ARENA, AFTER_CARD));
    apart(reused(CONTROL, BEFORE_CARD));
    apart(reused(CONTROL, AFTER_CARD));
    apart(closed("peerfd", false, false, false));
    apart(closed("cma", true, true, false));
    apart(closed("map", true, false, true));
    apart(closed("peerfd:2", true, false, true));
    apart(closed("map,cma", true, false, false));
}
