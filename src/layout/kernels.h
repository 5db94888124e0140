/*
 * kernels.h - the innermost loops: many short runs to or from contiguous bytes.
 *
 * For each length that occurs often, a loop of moves of that length, which the
 * compiler makes into a few loads and stores; the others up to SW_SHORT bytes
 * go in steps of eight with an overlapping last one, without a call.
 *
 * The including file defines SW_MOVE(to or from memory, the contiguous bytes,
 * n); NAME(x) makes the two directions' names.
 */
#define SW_SHORT 256

static inline void NAME(short)(char *at, char *data, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        SW_MOVE(at + i, data + i, 8);
    if (i < n) /* n > 8 */
        SW_MOVE(at + n - 8, data + n - 8, 8);
}

static inline void NAME(one)(char *at, char *data, size_t n)
{
    if (n == 4)
        SW_MOVE(at, data, 4);
    else if (n == 8)
        SW_MOVE(at, data, 8);
    else if (n > 8 && n <= SW_SHORT)
        NAME(short)(at, data, n);
    else
        SW_MOVE(at, data, n);
}

#define EACH(N)                                 \
    case N:                                     \
        for (int64_t i = 0; i < count; i++)     \
            SW_MOVE(PLACE(i), data + i * N, N); \
        return;
#define EVERY                                                \
    EACH(1)                                                  \
        EACH(2)                                              \
            EACH(4)                                          \
                EACH(8)                                      \
                    EACH(12)                                 \
                        EACH(16)                             \
                            EACH(20)                         \
                                EACH(24)                     \
                                    EACH(32)                 \
                                        EACH(40)             \
                                            EACH(48)         \
                                                EACH(64)     \
                                                    EACH(72) \
                                                        EACH(96)

/* `count` runs of n bytes, `stride` apart. */
static void NAME(strided)(char *at, int64_t count, int64_t stride, size_t n,
                          char *data)
{
#define PLACE(i) (at + (i) * stride)
    switch (n) {
        EVERY
    }
    for (int64_t i = 0; i < count; i++)
        NAME(one)(PLACE(i), data + (size_t)i * n, n);
#undef PLACE
}

/* `count` runs of n bytes at offsets. */
static void NAME(indexed)(char *at, int64_t count, const int64_t *offset,
                          size_t n, char *data)
{
#define PLACE(i) (at + offset[i])
    switch (n) {
        EVERY
    }
    for (int64_t i = 0; i < count; i++)
        NAME(one)(PLACE(i), data + (size_t)i * n, n);
#undef PLACE
}

/* `rows` rows of `count` runs of n bytes each, the rows so close to each other
 * that their runs share cache lines: as many rows at once as fill them. */
#define WEAVE(N)                                                    \
    case N:                                                         \
        for (int64_t j = 0; j < count; j++)                         \
            for (int64_t i = 0; i < rows; i++)                      \
                SW_MOVE(at + i * apart + j * stride,                \
                        data + (size_t)i * row + (size_t)j * N, N); \
        return;

static void NAME(woven)(char *at, int64_t rows, int64_t apart, size_t row,
                        int64_t count, int64_t stride, size_t n, char *data)
{
    switch (n) {
        WEAVE(4) WEAVE(8) WEAVE(16) WEAVE(32)
    }
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < rows; i++)
            NAME(one)(at + i * apart + j * stride,
                      data + (size_t)i * row + (size_t)j * n, n);
}

#undef WEAVE
#undef EACH
#undef EVERY
#undef SW_SHORT
