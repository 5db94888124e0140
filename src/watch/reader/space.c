/* space.c - see space.h; for /proc/PID/maps proc(5). */
#include "space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define TEXT_MOST ((size_t)64 << 20)

static const char gone[] = " (deleted)";

static char *read_all(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t room = 1 << 17, size = 0;
    char *text = fd < 0 ? NULL : malloc(room);

    while (text) {
        ssize_t n = read(fd, text + size, room - size - 1);
        if (n <= 0)
            break;
        size += (size_t)n;
        if (room - size < 4097) {
            char *more = room > TEXT_MOST ? NULL : realloc(text, room *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    if (text)
        text[size] = 0;
    if (fd >= 0)
        close(fd);
    return text;
}

static uint64_t hex(char **p)
{
    uint64_t value = 0;

    for (;; ++*p) {
        unsigned char c = (unsigned char)**p;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (c - 'a' + 10u);
        else
            return value;
    }
}

static void pass(char **p, char c)
{
    if (**p == c)
        ++*p;
}

/* The kernel writes a new line within a name as \012. */
static void plain(char *path)
{
    char *to = path;

    for (; *path; path++)
        if (!strncmp(path, "\\012", 4)) {
            *to++ = '\n';
            path += 3;
        } else {
            *to++ = *path;
        }
    *to = 0;
}

/* FROM-TO rwxp OFFSET MAJOR:MINOR INODE   PATH */
static bool parse(char *p, sw_area_t *a)
{
    a->from = hex(&p);
    pass(&p, '-');
    a->to = hex(&p);
    pass(&p, ' ');
    if (strlen(p) < 5 || a->to <= a->from)
        return false;
    a->reads = p[0] == 'r';
    a->runs = p[2] == 'x';
    p += 4;
    pass(&p, ' ');
    a->offset = hex(&p);
    pass(&p, ' ');
    a->device = hex(&p) << 32;
    pass(&p, ':');
    a->device |= hex(&p);
    a->inode = strtoull(p, &p, 10);
    a->path = p + strspn(p, " ");
    if (strchr(a->path, '\\'))
        plain(a->path);
    size_t n = strlen(a->path), end = sizeof gone - 1;
    a->gone = n > end && !strcmp(a->path + n - end, gone);
    if (a->gone)
        a->path[n - end] = 0;
    return true;
}

static void look(sw_space_t *s)
{
    char path[64];
    size_t lines = 0;

    s->known = true;
    sprintf(path, "/proc/%d/maps", (int)s->pid);
    if (!(s->text = read_all(path)))
        return;
    for (const char *p = s->text; (p = strchr(p, '\n')); p++)
        lines++;
    if (!(s->areas = calloc(lines + 1, sizeof *s->areas)))
        return;
    char *line = s->text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (parse(line, &s->areas[s->count]))
            s->count++;
    }
}

void sw_space_close(sw_space_t *s)
{
    free(s->areas);
    free(s->text);
    *s = (sw_space_t){.pid = s->pid};
}

const sw_area_t *sw_space_area(sw_space_t *s, uint64_t at)
{
    if (!s->known)
        look(s);
    size_t low = 0, high = s->count; /* the first that ends behind it */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->areas[mid].to <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->count && s->areas[low].from <= at ? &s->areas[low] : NULL;
}

const sw_area_t *sw_space_named(sw_space_t *s, const char *path)
{
    if (!s->known)
        look(s);
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->areas[i].path, path))
            return &s->areas[i];
    return NULL;
}

size_t sw_space_copy(const sw_space_t *s, uint64_t from, void *to, size_t n)
{
    struct iovec here = {to, n};
    struct iovec there = {(void *)(uintptr_t)from, n};
    ssize_t got = process_vm_readv(s->pid, &here, 1, &there, 1, 0);

    return got > 0 ? (size_t)got : 0;
}
