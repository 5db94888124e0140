/* match/pipe.h: a message is whole when its turn is seen. */
#include "weak.h"

#include "match/pipe.c"

static struct {
    sw_pipe_lines_t lines;
    sw_cell_t cell[16];
} pipe_memory;
static bool data[16];

void *sw_arena_alloc_shared(size_t bytes, size_t align)
{
    (void)bytes;
    (void)align;
    return NULL;
}

static void *sender(void *unused)
{
    sw_pipe_out_t out = {.ring = pipe_memory.cell,
                         .lines = &pipe_memory.lines,
                         .cells = 16,
                         .data = data,
                         .next = 14,
                         .consumed = 14};
    for (int i = 1; i <= 2; i++) {
        sw_cell_t *cell = sw_pipe_reserve(&out, 8);
        if (!cell)
            NEVER;
        cell->size = 8 * SW_CELL_KINDS;
        cell->tag = i;
        sw_pipe_publish(&out, cell);
    }
    return unused;
}

static void *receiver(void *unused)
{
    sw_pipe_in_t in = {
        .lines = &pipe_memory.lines, .cells = 16, .ring = pipe_memory.cell};
    sw_pipe_go(&in, 14);
    for (int i = 1; i <= 2; i++) {
        const sw_cell_t *cell = sw_pipe_peek(&in);
        if (!cell)
            NEVER;
        assert(cell->tag == i);
        sw_pipe_pop(&in);
    }
    return unused;
}

int main(void)
{
    run(sender, receiver);
}
