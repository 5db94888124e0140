/*
 * inside.h - what the stand-in's files share.
 *
 * One lock guards everything. A call takes it at its first line, CALL, and
 * gives it back when it returns. Only the operations of streams run without it.
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../hardware/cuda.h"
#include "standin.h"

#define EXPORTED __attribute__((visibility("default")))

/* Every call that hardware/cuda.h lists has the type that it has there. */
#define EXPORTED_CALL(name, arguments) EXPORTED int name arguments;
CUDA_CALLS(EXPORTED_CALL)

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    FILE_NOT_FOUND = 301,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ALREADY = 704,
    PEER_NOT_YET = 705,
    CONTEXT_DESTROYED = 709,
    REGISTERED_ALREADY = 712,
    NOT_REGISTERED = 713,
    UNALIGNED = 716,
    CAPTURE_FORBIDS = 900,
    CAPTURE_INVALID = 901,
    CAPTURE_IMPLICIT = 906,
    UNKNOWN = 999
};

/* Calls (calls.c) -------------------------------------------------------- */

typedef struct call {
    struct call *next;
    const char *name;
    uint64_t count;
} call_t;

/* What a call asks for: nothing; the driver; a context of this thread; and that
 * no capture of a stream forbids it. */
enum { ALWAYS = 0, DRIVER = 1, CONTEXT = 3, UNSAFE = 4 };

int call_enter(call_t *call, const char *name, int asks);
void call_leave(int *code);
void call_lock(void);
void call_unlock(void);

#define CALL(asks)                                               \
    static call_t call_;                                         \
    __attribute__((cleanup(call_leave))) int code_ = call_enter( \
        &call_, __func__, asks);                                 \
    if (code_)                                                   \
    return code_

/* Wait until another thread changes something; also for processes: a moment. */
void call_wait(bool processes);
void call_changed(void);
extern bool call_ready; /* cuInit has succeeded */
/* Initialise the driver; false: this process forked from one that had it. */
bool call_begin(void);

/* The environment at the process's first call. */
typedef struct {
    const char *refuse, *log;
    long delay, reuse, devices;
    bool counts; /* faults */
} settings_t;
extern settings_t settings;

/* Contexts (context.c) --------------------------------------------------- */

#define DEVICES 8

typedef struct stream stream_t;

typedef struct context {
    struct context *next;
    int device;
    int users; /* 0: it does not live */
    bool primary;
    uint64_t id;   /* another one in each life */
    int fault;     /* the code of the first */
    unsigned near; /* bit i: kernels may use the memory of device i */
    stream_t *legacy;
} context_t;

int context_check(void);
context_t *context_current(void);
context_t *context_primary(int device);
bool device_exists(int device);

/* Faults (faults.c) ------------------------------------------------------ */

/* Say and count a fault; it spoils the context, unless that is NULL. The result
 * is the code. */
int fault(context_t *c, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fault_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory (block.c, file.c) ----------------------------------------------- */

typedef enum {
    OF_DEVICE,
    OF_POOL,
    MANAGED,
    PINNED,
    REGISTERED,
    VIRTUAL,
    OPENED
} kind_t;

/* Pages: the program has them at `at` without access, the driver at `alias`. */
typedef struct file {
    struct file *next;
    int fd;
    at_t at;
    char *alias;
    size_t bytes, used;
    int blocks; /* that live */
    int process;
    uint64_t inode; /* these name it in every process */
} file_t;

typedef struct block {
    struct block *next; /* among the dead */
    kind_t kind;
    at_t at;
    size_t bytes;
    char *alias;
    file_t *file; /* NULL: memory of the host, or VIRTUAL */
    context_t *context;
    int device;
    uint64_t id;
    bool live, hidden; /* hidden: cuMemSetAccess is still to come */
    bool synchronous;  /* synchronous copies are, also from pageable memory */
    int opened;        /* so often, of OPENED */
    ipc_t name;        /* of OPENED */
} block_t;

/* A block of a file with room for it, or of a new one; NULL: none. */
block_t *block_allocate(kind_t kind, size_t bytes, context_t *c);
/* A block whose place is known. */
block_t *block_add(kind_t kind, at_t at, size_t bytes, char *alias,
                   file_t *file, context_t *c);
void block_free(block_t *b);
/* Free all blocks of a context. */
void block_free_all(const context_t *c);
/* The block that holds an address; NULL: none. */
block_t *block_find(at_t at);
/* The first of the blocks that end above an address. */
block_t **block_above(at_t at, block_t **end);
/* Why no block holds an address: a few words. */
const char *block_lack(at_t at);

file_t *file_make(size_t bytes, bool reach);
file_t *file_open(int process, int fd, uint64_t inode);
/* Cut a piece off the pages that are left; false: there is no room. */
bool file_cut(file_t *f, size_t bytes, at_t *at);
/* The piece at an offset is no longer in use; is it, asks another process. */
void file_retire(file_t *f, uint64_t offset);
bool file_retired(const file_t *f, uint64_t offset);
void file_end(file_t *f);
/* Unmap what has ended. No operation runs. */
void file_bury(void);
/* Addresses of nothing, without access; 0: no more. */
at_t file_reserve(size_t bytes);
/* Such is an address, whether it has memory or not. */
bool file_reserved(at_t at);

/* The last block of an opened file has gone (share.c). */
void share_end(const file_t *f);

/* Streams (stream.c) ----------------------------------------------------- */

typedef _Atomic uint64_t word_t;

/* An operation waits until a word has reached a value. */
typedef struct wait {
    struct wait *next;
    const word_t *word;
    uint64_t value;
    bool shared; /* with other processes */
} wait_t;

typedef struct op {
    struct op *next;
    wait_t *wait;
    const block_t *use[2]; /* must live when it runs */
    bool delayed, always;  /* always: though the context is spoilt */
    context_t *context;
    void (*run)(struct op *op);
} op_t;

struct stream {
    stream_t *next;
    context_t *context;
    bool blocking, live, works;
    int capture; /* 0, or 1 + the mode of a capture under way */
    bool spoilt; /* the capture */
    unsigned long captor;
    op_t *head, **tail;
    word_t put, done;
};

stream_t *stream_make(context_t *c, bool blocking);
/* The stream of a handle, or an error. */
int stream_find(handle_t handle, stream_t **stream);
/* Free an operation that no stream takes. */
void stream_drop(op_t *op);
int stream_put(stream_t *s, op_t *op);
void stream_await(stream_t *s);
/* All streams of a context are idle; end them. */
void stream_await_all(const context_t *c);
void stream_end_all(const context_t *c);
/* Make an operation of `bytes` bytes, and let it wait. */
void *op_make(size_t bytes, void (*run)(op_t *op));
void op_wait(op_t *op, const word_t *word, uint64_t value, bool shared);

/* Events (event.c), modules (module.c), captures (capture.c) ------------- */

void event_end_all(const context_t *c);
void module_end_all(const context_t *c);
/* A capture of a stream forbids an unsafe call of this thread. */
bool capture_forbids(void);
/* The default stream may do no work now: it would wait for a capture. */
bool capture_beside(const context_t *c, bool spoils);

/* Kernels (kernels.c) ---------------------------------------------------- */

#define PARAMETERS 6

typedef struct {
    const char *name;
    size_t parameter[PARAMETERS]; /* bytes of each; 0: no more */
    unsigned threads;             /* of a block; 0: any number */
} kernel_info_t;

typedef struct launch {
    op_t op;
    const kernel_info_t *kernel;
    unsigned blocks;
    void *parameter[PARAMETERS];
    char room[];
} launch_t;

const kernel_info_t *kernel_find(const char *name);
void kernel_run(op_t *op);

#endif
