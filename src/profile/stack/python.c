/*
 * python.c - see python.h.
 *
 * A place in Python code is a code object and an instruction of it. A thread's
 * cache leads from it to a row of sw_frames. Code objects come and go. Another
 * one may lie where one was, with its strings where the other's were (exec in a
 * loop does that). So the thread compares a guard, too, made from the addresses
 * and the contents of what the code object points to. What is not in the cache
 * the thread reads out, and looks file, function and line up as text: code
 * objects that are made again and again have one frame.
 *
 * The offsets below were read from the headers of each version. 3.9 to 3.13
 * were tried, 3.14 was not: that its table has moved is read from its source.
 */
#include "python.h"

#include "node/base/array.h"
#include "node/os/os.h"
#include "node/base/settings.h"
#include "frame.h"
#include "pycode.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

sw_table_t sw_python_lines = SW_TABLE(sw_python_line_t, 1 << 20);
_Atomic int sw_python_state = SW_PYTHON_NONE;

/* Set before the state says that there is a Python, and then no more. */
static sw_python_layout_t layout;
static uintptr_t (*this_thread)(void); /* PyGILState_GetThisThreadState */
static int (*initialized)(void);       /* Py_IsInitialized */
static void *code_type, *text_type, *bytes_type;
static char number[16]; /* "3.11.7" */

/* What Python itself says, where it may be asked. */
static struct {
    uintptr_t (*current)(void); /* the thread that holds the lock */
    uintptr_t (*frame)(void);
    uintptr_t (*frame_code)(uintptr_t);
    int (*frame_line)(uintptr_t);
    void (*release)(uintptr_t);
} ask;

/* Layouts ----------------------------------------------------------------- */

/* Python 3.9 to 3.12. */
static const sw_python_layout_t known[] = {
    {.version = 0x309,
     .thread_frame = 24,
     .code = 32,
     .previous = 24,
     .instruction = 104,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .type = 8,
     .bytes_size = 16,
     .bytes_data = 32,
     .text_length = 16,
     .text_state = 32,
     .text_ascii = 48,
     .text_wide = 72},
    {.version = 0x30a,
     .thread_frame = 24,
     .code = 32,
     .previous = 24,
     .instruction = 96,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .type = 8,
     .bytes_size = 16,
     .bytes_data = 32,
     .text_length = 16,
     .text_state = 32,
     .text_ascii = 48,
     .text_wide = 72},
    {.version = 0x30b,
     .thread_frame = 56,
     .cframe_frame = 8,
     .code = 32,
     .previous = 48,
     .instruction = 56,
     .owner = 69,
     .file = 112,
     .name = 128,
     .first_line = 72,
     .lines = 136,
     .bytecode = 184,
     .type = 8,
     .bytes_size = 16,
     .bytes_data = 32,
     .text_length = 16,
     .text_state = 32,
     .text_ascii = 48,
     .text_wide = 72},
    {.version = 0x30c,
     .thread_frame = 56,
     .cframe_frame = 0,
     .code = 0,
     .previous = 8,
     .instruction = 56,
     .owner = 70,
     .file = 112,
     .name = 128,
     .first_line = 68,
     .lines = 136,
     .bytecode = 192,
     .type = 8,
     .bytes_size = 16,
     .bytes_data = 32,
     .text_length = 16,
     .text_state = 32,
     .text_ascii = 40,
     .text_wide = 56},
};

/* Where the table at the start of _PyRuntime has the offsets of: the thread's
 * frame; a frame's previous, its code, instruction, owner; a code's file,
 * qualified name, first line, lines, bytecode; an object's type; the size and
 * data of bytes; a string's state, length, size of its header. */
typedef struct {
    uint16_t thread_frame, previous, code, instruction, owner;
    uint16_t file, name, first_line, lines, bytecode;
    uint16_t type, bytes_size, bytes_data;
    uint16_t text_state, text_length, text_size;
} table_t;

static const table_t table_13 = {184, 232, 240, 248, 264, 280, 296, 312,
                                 304, 344, 360, 520, 528, 544, 552, 560};
static const table_t table_14 = {208, 256, 264, 272, 288, 320, 336, 352,
                                 344, 384, 408, 600, 608, 624, 632, 640};

/* From the table; an error message, or NULL. */
static const char *by_table(const char *runtime, int version)
{
    const table_t *t = version == 0x30d ? &table_13 : &table_14;
    uint64_t word;
#define FIELD(at) (memcpy(&word, runtime + (at), sizeof word), (uint32_t)word)

    if (!runtime || memcmp(runtime, "xdebugpy", 8) != 0)
        return "has no table of offsets";
    memcpy(&word, runtime + 8, sizeof word);
    if ((int)(word >> 16) != version)
        return "has a table of offsets of another version";
    if (FIELD(16))
        return "is a build without the interpreter's lock";
    layout = (sw_python_layout_t){
        .version = version,
        .thread_frame = FIELD(t->thread_frame),
        .previous = FIELD(t->previous),
        .code = FIELD(t->code),
        .instruction = FIELD(t->instruction),
        .owner = FIELD(t->owner),
        .file = FIELD(t->file),
        .name = FIELD(t->name),
        .first_line = FIELD(t->first_line),
        .lines = FIELD(t->lines),
        .bytecode = FIELD(t->bytecode),
        .type = FIELD(t->type),
        .bytes_size = FIELD(t->bytes_size),
        .bytes_data = FIELD(t->bytes_data),
        .text_state = FIELD(t->text_state),
        .text_length = FIELD(t->text_length),
        .text_ascii = FIELD(t->text_size),
        .text_wide = FIELD(t->text_size) + 2 * (uint32_t)sizeof(void *),
    };
    /* Offsets of fields are small; else it is no such table. */
    const uint32_t *o = &layout.thread_frame;
    for (size_t i = 0; o + i <= &layout.text_wide; i++)
        if (o[i] > 4096)
            return "has a table of offsets that is not understood";
    return NULL;
#undef FIELD
}

/* Looking for it ---------------------------------------------------------- */

static void off(const char *why)
{
    if (atomic_exchange(&sw_python_state, SW_PYTHON_OFF) != SW_PYTHON_OFF &&
        sw_settings.profile)
        sw_say("Python %s %s: call sites are shown without their lines of "
               "Python",
               number, why);
}

/* A libpython that was opened for its opener alone. */
static int see(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

    name = name ? name + 1 : info->dlpi_name;
    if (!name || strncmp(name, "libpython3.", 11) != 0 ||
        strlen(info->dlpi_name) >= 4096)
        return 0;
    strcpy(context, info->dlpi_name);
    return 1;
}

/* What to ask for Python's symbols. */
static bool find(void **from)
{
    char path[4096] = "";

    *from = RTLD_DEFAULT;
    if (dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))
        return true;
    dl_iterate_phdr(see, path);
    return *path && (*from = dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
}

static void set_up(void *from)
{
    const char *(*version_of)(void);
    const char *text, *why;
    char *end;

#define SYMBOL(to, name) (*(void **)&(to) = dlsym(from, name))
    SYMBOL(version_of, "Py_GetVersion");
    if (!version_of)
        return;
    text = version_of();
    int major = (int)strtol(text, &end, 10);
    int minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
    int version = major << 8 | minor;
    memcpy(number, text, sw_min(strcspn(text, " "), sizeof number - 1));

    SYMBOL(this_thread, "PyGILState_GetThisThreadState");
    SYMBOL(initialized, "Py_IsInitialized");
    code_type = dlsym(from, "PyCode_Type");
    text_type = dlsym(from, "PyUnicode_Type");
    bytes_type = dlsym(from, "PyBytes_Type");
    if (!this_thread || !initialized || !code_type || !text_type ||
        !bytes_type) {
        off("lacks symbols");
        return;
    }
    if (!SYMBOL(ask.current, "PyThreadState_GetUnchecked"))
        SYMBOL(ask.current, "_PyThreadState_UncheckedGet");
    SYMBOL(ask.frame, "PyEval_GetFrame");
    SYMBOL(ask.frame_code, "PyFrame_GetCode");
    SYMBOL(ask.frame_line, "PyFrame_GetLineNumber");
    SYMBOL(ask.release, "Py_DecRef");
    why = "is a version that is not known";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].version == version) {
            layout = known[i];
            why = NULL;
        }
    if (version == 0x30d || version == 0x30e)
        why = by_table(dlsym(from, "_PyRuntime"), version);
#undef SYMBOL
    if (why)
        off(why);
    else
        atomic_store(&sw_python_state, SW_PYTHON_UNPROVED);
}

/* This asks the dynamic linker, which may wait for a thread that is within
 * dlopen. That thread's constructors may come by here, too: so no thread waits
 * for one that is looking. */
void sw_python_look(void)
{
    static _Atomic bool looking;
    void *from;

    if (atomic_load(&sw_python_state) != SW_PYTHON_NONE ||
        atomic_exchange(&looking, true))
        return;
    if (atomic_load(&sw_python_state) == SW_PYTHON_NONE) {
        if (find(&from))
            set_up(from);
        if (atomic_load(&sw_python_state) != SW_PYTHON_NONE)
            atomic_fetch_add(&sw_epoch, 1);
    }
    atomic_store(&looking, false);
}

const sw_python_layout_t *sw_python_layout(void)
{
    sw_python_look();
    return sw_python_here() ? &layout : NULL;
}

uintptr_t sw_python_thread(void)
{
    return initialized() ? this_thread() : 0;
}

/* Walking ----------------------------------------------------------------- */

static inline uintptr_t first_frame(uintptr_t thread)
{
    uintptr_t frame = sw_pycode_word(thread, layout.thread_frame);

    if (layout.version == 0x30b || layout.version == 0x30c)
        frame = frame ? sw_pycode_word(frame, layout.cframe_frame) : 0;
    return frame;
}

/* Frames that belong to the interpreter, between two of Python's. */
static inline bool of_interpreter(uintptr_t frame)
{
    return layout.owner && *(const char *)(frame + layout.owner) >= 3;
}

/* A reference to an object may be marked in its lowest bits (3.14). */
static inline uintptr_t code_of(uintptr_t frame)
{
    return sw_pycode_word(frame, layout.code) & ~(uintptr_t)7;
}

/* Until 3.10 an index, then a pointer. */
static inline uintptr_t instruction_of(uintptr_t frame)
{
    return layout.version < 0x30b ? sw_pycode_half(frame, layout.instruction)
                                  : sw_pycode_word(frame, layout.instruction);
}

/* The instruction's offset in bytes. */
static int64_t offset_of(uintptr_t code, uintptr_t instruction)
{
    if (layout.version < 0x30b)
        return (int64_t)(int32_t)instruction * (layout.version < 0x30a ? 1 : 2);
    return (int64_t)(instruction - (code + layout.bytecode));
}

/* What tells a code object from another one at the same address. It is made
 * from the objects for its file, name and lines, and its first line. To these
 * come the end of the file's name, and size and ends of the table of lines. All
 * that is read lies within these objects: even an empty one has its header in
 * front of the data. */
static inline uint64_t guard_of(uintptr_t code)
{
    uintptr_t file = sw_pycode_word(code, layout.file);
    uintptr_t lines = sw_pycode_word(code, layout.lines);
    uintptr_t size = sw_pycode_word(lines, layout.bytes_size);
    uintptr_t length = sw_pycode_word(file, layout.text_length);
    uint64_t word[3];

    memcpy(&word[0], (const char *)file + layout.text_ascii + length - 8, 8);
    memcpy(&word[1], (const char *)lines + layout.bytes_data, 8);
    memcpy(&word[2], (const char *)lines + layout.bytes_data + size - 8, 8);
    return file * 0x9e3779b97f4a7c15u ^ lines * 0xd6e8feb86659fd93u ^
           sw_pycode_word(code, layout.name) * 0xbf58476d1ce4e5b9u ^
           (length << 32 ^ size) * 0x94d049bb133111ebu ^
           sw_pycode_half(code, layout.first_line) * 0xff51afd7ed558ccdu ^
           word[0] * 0xc4ceb9fe1a85ec53u ^ word[1] * 0x87c37b91114253d5u ^
           word[2] * 0x4cf5ad432745937fu;
}

/* Text as kept once for all. With the lock held; NULL: no room. */
static const char *kept(const char *text, size_t n)
{
    typedef struct {
        const char *text;
    } text_t;
    static sw_table_t texts = SW_TABLE(text_t, 1 << 20);
    uint64_t hash = 5;

    for (size_t i = 0; i < n; i++)
        hash = sw_table_mix(hash, (unsigned char)text[i]);
    hash = sw_table_mix_end(hash);
    sw_find_t find = sw_table_find(&texts, hash);
    for (uint32_t row; (row = sw_table_next(&find));) {
        const text_t *t = sw_table_row(&texts, row);
        if (!strcmp(t->text, text))
            return t->text;
    }
    text_t *t = sw_table_new(&texts);
    if (!t || !(t->text = sw_table_text(text, n)) ||
        !sw_table_publish(&texts, hash))
        return NULL;
    return t->text;
}

/* The row of sw_frames; 0: no room. With the lock held. */
static uint32_t frame_of(const char *file, size_t file_size,
                         const char *function, size_t function_size,
                         uint32_t line)
{
    const char *f = kept(file, file_size);
    const char *g = kept(function, function_size);

    if (!f || !g)
        return 0;
    uint64_t hash = sw_table_mix_end(sw_table_mix(
        sw_table_mix(sw_table_mix(6, (uintptr_t)f), (uintptr_t)g), line));
    sw_find_t find = sw_table_find(&sw_python_lines, hash);
    uint32_t row;
    while ((row = sw_table_next(&find))) {
        const sw_python_line_t *l = sw_table_row(&sw_python_lines, row);
        if (l->file == f && l->function == g && l->line == line)
            break;
    }
    if (!row) {
        sw_python_line_t *l = sw_table_new(&sw_python_lines);
        if (!l)
            return 0;
        *l = (sw_python_line_t){f, g, line};
        row = sw_table_publish(&sw_python_lines, hash);
    }
    return row ? sw_frame_of(SW_FRAME_PYTHON, row, 0) : 0;
}

#define FILE_TEXT 4096

/* Read a place out. False: it cannot be kept. Frames of the machinery of
 * import are not shown, as in Python's own tracebacks. */
__attribute__((noinline)) static bool learn(uintptr_t code,
                                            uintptr_t instruction,
                                            sw_python_place_t *to)
{
    static const char machinery[] = "<frozen importlib._bootstrap";
    char function[1024];
    SW_BYTES(file, FILE_TEXT);
    size_t file_size, function_size;

    *to = (sw_python_place_t){code, instruction, guard_of(code), 0};
    file_size = sw_pycode_text(&layout, sw_pycode_word(code, layout.file), file,
                               FILE_TEXT);
    if (!strncmp(file, machinery, sizeof machinery - 1))
        return true;
    function_size = sw_pycode_text(&layout, sw_pycode_word(code, layout.name),
                                   function, sizeof function);
    uint32_t line = sw_pycode_line(&layout, code, offset_of(code, instruction));
    if (!sw_profile_lock()) {
        to->code = 0;
        return false;
    }
    to->frame = frame_of(file, file_size, function, function_size, line);
    sw_profile_unlock();
    if (!to->frame)
        to->code = 0;
    return to->frame != 0;
}

/* The proof --------------------------------------------------------------- */

static bool can(uintptr_t object, uint32_t offset)
{
    uintptr_t at = (object + offset) & ~(uintptr_t)7;
    return object >= SW_PAGE && sw_os_readable((const void *)at);
}

static bool is_a(uintptr_t object, const void *type)
{
    return !(object & 7) && can(object, layout.type) &&
           sw_pycode_word(object, layout.type) == (uintptr_t)type;
}

static bool is_code(uintptr_t code)
{
    return is_a(code, code_type) && can(code, layout.file) &&
           can(code, layout.name) && can(code, layout.lines) &&
           can(code, layout.first_line) &&
           is_a(sw_pycode_word(code, layout.file), text_type) &&
           is_a(sw_pycode_word(code, layout.name), text_type) &&
           is_a(sw_pycode_word(code, layout.lines), bytes_type);
}

/* Do the first frames look right? 1: yes, 0: no, -1: there are none. */
static int looks_right(uintptr_t thread, uintptr_t *first)
{
    int seen = 0;

    *first = 0;
    if (!can(thread, layout.thread_frame))
        return 0;
    uintptr_t frame = sw_pycode_word(thread, layout.thread_frame);
    if (frame && (layout.version == 0x30b || layout.version == 0x30c)) {
        if (!can(frame, layout.cframe_frame))
            return 0;
        frame = sw_pycode_word(frame, layout.cframe_frame);
    }
    for (; frame && seen < 4; frame = sw_pycode_word(frame, layout.previous)) {
        if (frame & 7 || !can(frame, layout.previous) ||
            !can(frame, layout.code) || !can(frame, layout.instruction) ||
            !can(frame, layout.owner))
            return 0;
        if (of_interpreter(frame))
            continue;
        uintptr_t code = code_of(frame);
        if (!is_code(code))
            return 0;
        int64_t offset = offset_of(code, instruction_of(frame));
        if (offset < -16 || offset > 1 << 30)
            return 0;
        *first = *first ? *first : frame;
        seen++;
    }
    return seen ? 1 : -1;
}

/* With the interpreter's lock held by this thread: is it what Python says? */
static bool is_what_python_says(uintptr_t frame)
{
    uintptr_t object = ask.frame(), code;

    if (!object)
        return false;
    code = ask.frame_code(object);
    bool same = code == code_of(frame);
    if (same) {
        int64_t offset = offset_of(code, instruction_of(frame));
        int line = ask.frame_line(object);
        same = (uint32_t)(line > 0 ? line : 0) ==
               sw_pycode_line(&layout, code, offset);
    }
    ask.release(code);
    return same;
}

__attribute__((noinline, cold)) static bool prove(uintptr_t thread)
{
    uintptr_t frame;
    int right = looks_right(thread, &frame);
    bool may_ask = ask.current && ask.frame && ask.frame_code &&
                   ask.frame_line && ask.release && ask.current() == thread;

    if (right > 0 && may_ask)
        right = is_what_python_says(frame);
    else if (right < 0 && !(may_ask && ask.frame()))
        return false;
    if (right <= 0) {
        off("keeps its frames otherwise than expected");
        return false;
    }
    atomic_store(&sw_python_state, SW_PYTHON_ON);
    return true;
}

/* A Python that ends takes the states of its threads away, and does not tell
 * those; but first it says that it is no longer there. */
int sw_python_frames(sw_thread_t *t, uint32_t *frames, int most)
{
    uintptr_t thread = initialized() ? this_thread() : 0;
    int n = 0;

    if (!thread)
        return 0;
    if (sw_unlikely(
            atomic_load_explicit(&sw_python_state, memory_order_relaxed) !=
            SW_PYTHON_ON) &&
        !prove(thread))
        return 0;
    uintptr_t frame = first_frame(thread);
    for (int i = 0; frame && n < most && i < 64 + 4 * most; i++) {
        if (sw_likely(!of_interpreter(frame))) {
            uintptr_t code = code_of(frame);
            uintptr_t instruction = instruction_of(frame);
            sw_python_place_t
                *p = &t->python[sw_thread_cache_slot(code + 31 * instruction)];
            if (sw_unlikely(p->code != code || p->instruction != instruction ||
                            p->guard != guard_of(code)) &&
                !learn(code, instruction, p))
                return -1;
            if (sw_likely(p->frame))
                frames[n++] = p->frame;
        }
        frame = sw_pycode_word(frame, layout.previous);
    }
    return n;
}
