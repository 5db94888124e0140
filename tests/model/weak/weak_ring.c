/* match/pipe.h: a cell is written anew when it has been read. */
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
                         .next = 16};
    sw_cell_t *cell = sw_pipe_reserve(&out, 8);
    if (!cell)
        NEVER;
    cell->size = 8 * SW_CELL_KINDS;
    cell->tag = 6;
    sw_pipe_publish(&out, cell);
    return unused;
}

static void *receiver(void *unused)
{
    sw_pipe_in_t in = {
        .lines = &pipe_memory.lines, .cells = 16, .ring = pipe_memory.cell};
    int tag[2];
    sw_pipe_go(&in, 0);
    for (int i = 0; i < 2; i++) {
        const sw_cell_t *cell = &in.ring[i];
        tag[i] = cell->tag;
        sw_pipe_pop(&in);
    }
    sw_pipe_tell(&in);
    /* A branch before that would order what it depends on. */
    assert(tag[0] == 5 && tag[1] == 5);
    return unused;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        pipe_memory.cell[i].turn = 1;
        pipe_memory.cell[i].size = 8 * SW_CELL_KINDS;
        pipe_memory.cell[i].tag = 5;
    }
    run(sender, receiver);
}
