/* Another heap, as jemalloc would be: every entry point of its own, and a
 * mark before each block, so that a block of any other heap is found out. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK 0x6f746865725f6870u
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *memalign(size_t align, size_t size)
{
    if (align < 64)
        align = 64;
    if (size > SIZE_MAX / 2)
        return NULL;
    char *p = __libc_memalign(align, size + align);
    if (!p)
        return NULL;
    uint64_t mark[3] = {size, align, MARK};
    memcpy(p + align - sizeof mark, mark, sizeof mark);
    return p + align;
}

static void look(void *p, uint64_t *mark)
{
    memcpy(mark, (char *)p - 24, 24);
    if (mark[2] != MARK) {
        static const char text[] = "a block of another heap\n";
        if (write(2, text, sizeof text - 1))
            _exit(3);
        _exit(4);
    }
}

void free(void *p)
{
    uint64_t mark[3];
    if (!p)
        return;
    look(p, mark);
    __libc_free((char *)p - mark[1]);
}

size_t malloc_usable_size(void *p)
{
    uint64_t mark[3];
    if (!p)
        return 0;
    look(p, mark);
    return mark[0];
}

void *malloc(size_t size)
{
    return memalign(64, size);
}

void *calloc(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 4 / size)
        return NULL;
    volatile char *p = memalign(64, n * size);
    for (size_t i = 0; p && i < n * size; i++)
        p[i] = 0;
    return (void *)p;
}

void *realloc(void *p, size_t size)
{
    void *to = memalign(64, size);
    if (p && to) {
        size_t have = malloc_usable_size(p);
        memcpy(to, p, have < size ? have : size);
        free(p);
    }
    return to;
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **to, size_t align, size_t size)
{
    *to = memalign(align, size);
    return *to ? 0 : 12;
}
