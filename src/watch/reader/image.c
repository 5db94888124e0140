/* image.c - see image.h. */
#include "image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPAN_MOST ((uint64_t)16 << 30)
#define COPY_MOST ((uint64_t)64 << 20)

static sw_image_t *images;

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The same layers as those that the profiler skips (profile/stack/module.c). */
static bool is_ours(const char *path)
{
    static const char *const layers[] = {
        "libstraightway", "libmpi_mpifh", "libmpi_usempi", "libmpifort",
        "libmpif77",      "libmpif90",    "libmpicxx",     "libmpi_cxx",
        "libmpi_ibm_",    "libmpichf90",  "libmpichfort",  "libmpichcxx"};
    const char *name = last_part(path);

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (!strncmp(name, layers[i], strlen(layers[i])))
            return true;
    return false;
}

/* Program headers --------------------------------------------------------- */

/* From the file's first page. */
static bool read_headers(sw_image_t *m, const unsigned char *page, size_t size)
{
    ElfW(Ehdr) e;

    if (size < sizeof e)
        return false;
    memcpy(&e, page, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_phentsize != sizeof *m->headers || e.e_phoff > size)
        return false;
    m->count = (uint32_t)sw_min(sw_min(e.e_phnum, SW_IMAGE_HEADERS),
                                (size - e.e_phoff) / sizeof *m->headers);
    memcpy(m->headers, page + e.e_phoff, m->count * sizeof *m->headers);
    return true;
}

static bool extent(const sw_image_t *m, uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const ElfW(Phdr) *p = &m->headers[i];
        if (p->p_type != PT_LOAD)
            continue;
        if (p->p_memsz > SPAN_MOST || p->p_vaddr > UINT64_MAX - 2 * SPAN_MOST ||
            p->p_filesz > p->p_memsz)
            return false;
        *low = sw_min(*low, p->p_vaddr & ~(uint64_t)(SW_PAGE - 1));
        *high = sw_max(*high, p->p_vaddr + p->p_memsz);
    }
    return *low < *high && *high - *low <= SPAN_MOST;
}

/* Memory for the image, which reads as zeros where nothing is loaded. */
static bool reserve(sw_image_t *m, int protection, uint64_t *low)
{
    uint64_t high;

    if (!extent(m, low, &high))
        return false;
    /* a page behind the end: words at the end may be read whole */
    void *at = mmap(NULL, high - *low + SW_PAGE, protection,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    m->bias = (uintptr_t)at - *low;
    return true;
}

static void read_build_id(sw_image_t *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const ElfW(Phdr) *p = &m->headers[i];
        uint64_t low, high;
        if (p->p_type != PT_NOTE || p->p_memsz > 1 << 20 ||
            !extent(m, &low, &high) || p->p_vaddr < low || p->p_vaddr > high ||
            p->p_memsz > high - p->p_vaddr)
            continue;
        const unsigned char *at = (const void *)(m->bias + p->p_vaddr);
        size_t align = p->p_align == 8 ? 8 : 4;
        for (size_t left = p->p_memsz; left >= sizeof(ElfW(Nhdr));) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            if (note.n_namesz > left || note.n_descsz > left)
                break;
            size_t name = sizeof note + sw_round_up(note.n_namesz, 4);
            size_t head = sw_round_up(name, align);
            size_t all = sw_round_up(head + note.n_descsz, align);
            if (all > left)
                break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                !memcmp(at + sizeof note, "GNU", 4)) {
                for (size_t k = 0; k < sw_min(note.n_descsz, 64); k++)
                    sprintf(m->build_id + 2 * k, "%02x", at[head + k]);
                return;
            }
            at += all;
            left -= all;
        }
    }
}

/* From the file ----------------------------------------------------------- */

static bool map_segments(sw_image_t *m, int fd, uint64_t size)
{
    uint64_t low;

    if (!reserve(m, PROT_READ, &low))
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        const ElfW(Phdr) *p = &m->headers[i];
        uint64_t in_page = p->p_vaddr & (SW_PAGE - 1);
        if (p->p_type != PT_LOAD || !p->p_filesz || p->p_flags & PF_W)
            continue;
        if (p->p_offset > size || p->p_filesz > size - p->p_offset ||
            (p->p_offset & (SW_PAGE - 1)) != in_page)
            return false;
        void *to = (void *)(m->bias + p->p_vaddr - in_page);
        if (mmap(to, p->p_filesz + in_page, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                 fd, (off_t)(p->p_offset - in_page)) == MAP_FAILED)
            return false;
    }
    return true;
}

static bool load_file(sw_image_t *m, const char *path)
{
    unsigned char page[4096];
    struct stat st;
    bool good = false;

    /* a look first: to open a device may do something */
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        ssize_t n = pread(fd, page, sizeof page, 0);
        good = n > 0 && read_headers(m, page, (size_t)n) &&
               map_segments(m, fd, (uint64_t)st.st_size);
    }
    close(fd);
    return good;
}

/* From the process -------------------------------------------------------- */

static const sw_area_t *first_of(sw_space_t *s, const sw_area_t *a)
{
    const sw_area_t *found = a;

    for (size_t i = 0; i < s->count && &s->areas[i] <= a; i++)
        if (s->areas[i].inode == a->inode && s->areas[i].offset == 0 &&
            s->areas[i].device == a->device &&
            !strcmp(s->areas[i].path, a->path))
            found = &s->areas[i];
    return found;
}

static bool load_memory(sw_image_t *m, sw_space_t *s, const sw_area_t *a)
{
    const sw_area_t *first = first_of(s, a);
    unsigned char page[4096];
    uint64_t low, all = 0;
    size_t n = sw_space_copy(s, first->from, page, sizeof page);

    if (!n || !read_headers(m, page, n) ||
        !reserve(m, PROT_READ | PROT_WRITE, &low))
        return false;
    for (uint32_t i = 0; i < m->count; i++) {
        const ElfW(Phdr) *p = &m->headers[i];
        if (p->p_type != PT_LOAD || p->p_flags & PF_W)
            continue;
        all += p->p_filesz;
        if (all > COPY_MOST || sw_space_copy(s, first->from + p->p_vaddr - low,
                                             (void *)(m->bias + p->p_vaddr),
                                             p->p_filesz) != p->p_filesz)
            return false;
    }
    return true;
}

static bool load(sw_image_t *m, sw_space_t *s, const sw_area_t *a)
{
    static char path[4400];

    if (!a->gone && a->inode) {
        snprintf(path, sizeof path, "/proc/%d/root%s", (int)s->pid, a->path);
        if (load_file(m, path) || load_file(m, a->path))
            return true;
    }
    if (a->inode) {
        snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", (int)s->pid,
                 (unsigned long long)a->from, (unsigned long long)a->to);
        if (load_file(m, path))
            return true;
    }
    return load_memory(m, s, a);
}

sw_image_t *sw_image_of(sw_space_t *s, const sw_area_t *a)
{
    bool kernels = !strcmp(a->path, "[vdso]");
    const char *name = kernels ? "linux-vdso.so.1" : a->path;

    if (!kernels && (!a->inode || *a->path != '/'))
        return NULL;
    for (sw_image_t *m = images; m; m = m->next)
        if (m->device == a->device && m->inode == a->inode &&
            !strcmp(m->path, name))
            return m;
    sw_image_t *m = calloc(1, sizeof *m);
    if (!m || !(m->path = strdup(name))) {
        free(m);
        return NULL;
    }
    m->device = a->device;
    m->inode = a->inode;
    m->ours = is_ours(name);
    m->empty = !load(m, s, a);
    if (m->empty)
        m->count = 0;
    read_build_id(m);
    m->next = images;
    images = m;
    return m;
}

/* Addresses --------------------------------------------------------------- */

static bool holds(const ElfW(Phdr) *p, uint64_t offset)
{
    uint64_t from = p->p_offset & ~(uint64_t)(SW_PAGE - 1);
    return p->p_type == PT_LOAD && offset >= from &&
           offset < p->p_offset + p->p_filesz;
}

uint64_t sw_image_address(const sw_image_t *m, const sw_area_t *a, uint64_t at)
{
    uint64_t offset = at - a->from + a->offset;

    /* Two segments may share a page of the file: code comes first. */
    for (int code = 1; code >= 0; code--)
        for (uint32_t i = 0; i < m->count; i++) {
            const ElfW(Phdr) *p = &m->headers[i];
            if (holds(p, offset) && !!(p->p_flags & PF_X) == code)
                return offset - p->p_offset + p->p_vaddr;
        }
    return offset;
}

const sw_cfi_rule_t *sw_image_rule(const sw_image_t *m, uint64_t address)
{
    static struct {
        const sw_image_t *image;
        uint64_t address;
        sw_cfi_rule_t rule;
    } kept[4096];
    uint64_t hash = (address ^ (uintptr_t)m >> 4) * 0x9e3779b97f4a7c15u;
    size_t slot = hash >> 52;

    if (kept[slot].image != m || kept[slot].address != address) {
        kept[slot].image = m;
        kept[slot].address = address;
        kept[slot].rule = sw_cfi_rule(m->headers, m->count, m->bias,
                                      m->bias + address);
    }
    return &kept[slot].rule;
}
