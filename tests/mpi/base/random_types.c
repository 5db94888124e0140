/*
 * random_types.c - random derived datatypes in messages and collectives,
 * checked byte by byte.
 *
 *   random_types SEED ROUNDS [--log PREFIX] [--max BYTES] [--from ROUND]
 *                [--only messages|collectives|neighbours]
 *                [--without WORD,WORD...] [--uncut BYTES] [--verbose]
 *                [--trace]
 *
 * A round is a handful of messages, or one collective, that every rank draws
 * from (SEED, round). Each end then draws a datatype of its own of that
 * signature (types_make.h), the memory it lies in (types_buffers.h) and how
 * it calls (types_messages.h, types_collectives.h). The receiver knows what
 * must come. It compares the data, the gaps between, the room that was left
 * and the margins. Straightway must pack and unpack exactly as the host alone
 * does.
 *
 * With --log every rank writes a line for each thing received into
 * PREFIX.rank: a run on the host alone and a run with Straightway must write
 * the same. The last line counts the types that the host itself packs or
 * unpacks in another way than the standard says. No rank uses those types.
 *
 * --without leaves out what the words name:
 *
 *   bottom, overlap, packed, persistent, buffered, probe, exchange, replace,
 *   pairs, f90, subarray, darray, resized, dup, hindexed_block
 *   room      more than the message needs
 *   cut       less than the message needs
 *   large     large counts
 *   odd       odd alignments
 *   letgo     a type freed under way
 *   memory    memory other than the heap
 *   place     MPI_IN_PLACE
 *
 * --from starts at a round. --verbose says which types no rank uses, and
 * --trace says each call. --uncut: messages up to so many bytes may have
 * elements that no multiple of eight bytes cuts well. The default is 4000; an
 * MPI that can send more of them takes a larger value.
 */
#include "types_collectives.h"
#include <dlfcn.h>

enum { WORLD, REVERSED, CART, GRAPH, COMMS };

static MPI_Comm comms[COMMS];
static size_t max_bytes = 1 << 20;
static size_t uncut = 4000; /* bytes that every host sends as one */
static int only = -1;
static const char *const parts[] = {"messages", "collectives", "neighbours"};

/* Communicators ---------------------------------------------------------- */

static void comms_make(void)
{
    rng_t r = rng_from(key2(seed, 4242));
    int dims[2] = {0, 0}, periodic[2];
    comms[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[REVERSED]);
    MPI_Dims_create(world_size, 2, dims);
    periodic[0] = (int)rng_below(&r, 2);
    periodic[1] = (int)rng_below(&r, 2);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &comms[CART]);

    int from[PIECES_MAX], to[PIECES_MAX], in = 0, out = 0;
    for (int i = 0; i < world_size; i++)
        for (int j = 0; j < world_size; j++) {
            bool edge = !rng_one_in(&r, 3);
            if (edge && j == world_rank && in < PIECES_MAX)
                from[in++] = i;
            if (edge && i == world_rank && out < PIECES_MAX)
                to[out++] = j;
        }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, MPI_UNWEIGHTED,
                                   out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comms[GRAPH]);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
}

/* Rounds ------------------------------------------------------------------ */

/* Bytes of a message: any size, and the ones where things change. */
static size_t draw_bytes(rng_t *r, size_t max)
{
    static const size_t edges[] = {192,  192,  256,   1000, 4096,
                                   4096, 8192, 16384, 65536};
    size_t n;
    switch (rng_below(r, 6)) {
    case 0:
    case 1:
        n = edges[rng_below(r, LENGTH(edges))];
        n += rng_one_in(r, 2) ? 0 : rng_below(r, 33) - 16;
        break;
    case 2: n = rng_size(r, rng_one_in(r, 4) ? max : 32768); break;
    default: n = rng_size(r, 8192);
    }
    return n > max ? max : n;
}

static const int grains[] = {1,  2,  3,   4,   6,   8,   12,  24,
                             60, 64, 100, 120, 360, 720, 1024};

/* Turns of a signature that make about so many bytes, and a grain. */
static int draw_turns(rng_t *r, const signature_t *s, size_t bytes, int *grain)
{
    /* Hosts cut large messages into segments, and all of them err in some
     * types where the cut falls inside an element. */
    if (bytes > uncut && !cuts_well(s))
        bytes = uncut;
    int turns = (int)(bytes / (size_t)s->size);
    turns = turns ? turns : 1;
    *grain = grains[rng_below(r, LENGTH(grains))];
    if (*grain > turns)
        *grain = rng_one_in(r, 2) || turns > ELEMENTS_CAP ? 1 : turns;
    return turns - turns % *grain;
}

static void messages(rng_t *plan, rng_t *own, long round)
{
    static item_t item[ITEMS_MAX];
    int n = 1 + (int)rng_below(plan, ITEMS_MAX);
    for (int i = 0; i < n; i++) {
        item_t *m = &item[i];
        *m = (item_t){.index = i, .round = round};
        m->key = rng_next(plan);
        m->comm = comms[rng_below(plan, 2)];
        m->from = (int)rng_below(plan, (size_t)world_size);
        m->to = (int)rng_below(plan, (size_t)world_size);
        if (m->to == m->from && !rng_one_in(plan, 6))
            m->to = (m->from + 1) % world_size;
        m->alone = rng_one_in(plan, 2);
        m->tag = m->alone ? 1000 + (int)((round * ITEMS_MAX + i) % 20000)
                          : (int)rng_below(plan, 5);
        m->signature = draw_signature(plan);
        m->turns = draw_turns(plan, &m->signature, draw_bytes(plan, max_bytes),
                              &m->grain);
        m->bytes = (size_t)m->turns * (size_t)m->signature.size;
        m->times = rng_one_in(plan, 5) ? 2 + (int)rng_below(plan, 2) : 1;
        m->overlap = rng_one_in(plan, 8) && has("overlap");
        m->exchange = rng_one_in(plan, 6) && has("exchange") && !m->overlap;
        m->replace = m->exchange && rng_one_in(plan, 2) && has("replace");
        /* (MPICH is content where the basic types differ.) */
        m->cut = rng_one_in(plan, 25) && m->turns > 1 && has("cut") &&
                 !m->exchange && cuts_well(&m->signature);
#ifdef OMPI_MAJOR_VERSION
        m->cut = false; /* it writes past the room */
#endif
        if (m->cut)
            m->times = 1;
        MPI_Comm_rank(m->comm, &me);
        if (me != m->from && me != m->to)
            continue;
        if (m->exchange)
            item_exchange(own, m);
        else
            item_pass(own, m);
    }
    laters_end();
}

static void collectives(rng_t *plan, rng_t *own, long round, bool neighbours)
{
    collective_t c = {.round = round, .key = rng_next(plan)};
    c.kind = neighbours
                 ? PLAIN_COLLECTIVES +
                       (int)rng_below(plan, COLLECTIVES - PLAIN_COLLECTIVES)
                 : (int)rng_below(plan, PLAIN_COLLECTIVES);
    if (!host_can(c.kind))
        c.kind = ALLTOALLW;
    c.comm = comms[neighbours ? CART + rng_below(plan, 2) : rng_below(plan, 2)];
    c.root = (int)rng_below(plan, (size_t)world_size);
    c.signature = draw_signature(plan);
    size_t max = max_bytes / 2 / (size_t)world_size;
    c.turns = draw_turns(plan, &c.signature, draw_bytes(plan, max), &c.grain);
    c.in_place = rng_one_in(plan, 4) && has("place");
    collective(own, &c);
}

static void play(long round)
{
    uint64_t key = key2(seed, (uint64_t)round);
    rng_t plan = rng_from(key);
    rng_t own = rng_from(key2(key, 2u + (uint64_t)world_rank));
    int part = (int)rng_below(&plan, 8);
    part = part < 5 ? 0 : part < 7 ? 1 : 2;
    if (only >= 0)
        part = only;
    if (part == 0)
        messages(&plan, &own, round);
    else
        collectives(&plan, &own, round, part == 2);
}

int main(int argc, char **argv)
{
    long rounds, from = 0;
    test_start(&argc, &argv);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    rounds = argument(argc, argv, 2, 100);
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--trace")) {
            trace = verbose = true;
            continue;
        }
        if (!strcmp(argv[i], "--verbose")) {
            verbose = true;
            continue;
        }
        CHECK(i + 1 < argc, "option %s is not known", argv[i]);
        const char *option = argv[i], *value = argv[++i];
        if (!strcmp(option, "--log")) {
            char name[4096];
            snprintf(name, sizeof name, "%s.%d", value, world_rank);
            log_file = fopen(name, "w");
            CHECK(log_file, "cannot write %s", name);
        } else if (!strcmp(option, "--max")) {
            max_bytes = strtoull(value, NULL, 0);
        } else if (!strcmp(option, "--uncut")) {
            uncut = strtoull(value, NULL, 0);
        } else if (!strcmp(option, "--from")) {
            from = strtol(value, NULL, 0);
        } else if (!strcmp(option, "--without")) {
            snprintf(without, sizeof without, "%s", value);
        } else if (!strcmp(option, "--only")) {
            for (only = (int)LENGTH(parts) - 1; only >= 0; only--)
                if (!strcmp(parts[only], value))
                    break;
            CHECK(only >= 0, "no part is called %s", value);
        } else {
            CHECK(false, "option %s is not known", option);
        }
    }
    CHECK(world_size <= 8, "at most 8 ranks");
    *(void **)&accelerate = dlsym(dlopen(NULL, RTLD_NOW),
                                  "straightway_accelerate");
    basics_make(has("f90"));
    comms_make();
    MPI_Op_create(fold_bits, 1, &bits);
    int room = 2 * ITEMS_MAX * (BUFFERED_MAX + 4096);
    void *buffered = malloc((size_t)room);
    MPI_Buffer_attach(buffered, room);
    for (long i = from; i < from + rounds; i++)
        play(i);
    MPI_Buffer_detach(&buffered, &room);
    free(buffered);
    if (log_file) {
        fprintf(log_file, "mistrusted %ld\n", mistrusted);
        fclose(log_file);
    }
    MPI_Op_free(&bits);
    for (int i = REVERSED; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    if (world_rank == 0)
        printf("seed %llu: %ld rounds of datatypes right, %ld types of rank 0 "
               "not trusted\n",
               (unsigned long long)seed, rounds, mistrusted);
    return 0;
}
