/*
 * is.c - integers sorted in buckets, the kind of kernel that NAS IS stands
 * for.
 *
 *   mpicc -O3 -o is examples/kernels/is.c
 *   mpirun -n 2 ./is [KEYS [ITERATIONS [spoil]]]
 *
 * The ranks sort KEYS integers, of which each has an equal part. The values
 * follow a bell curve, so buckets of equal width hold unequal numbers of keys.
 * Each rank takes as many buckets as give it about its share.
 *
 * Communication, per iteration: MPI_Allreduce of the 1024 buckets' sizes,
 * MPI_Alltoall of a count per pair of ranks, and MPI_Alltoallv of the keys.
 * Nearly all keys move.
 *
 * Each iteration has keys of its own. Checksums of the sent and the received
 * keys show a changed, lost or doubled key. All keys of an iteration must lie
 * in the receiver's range. The program sorts the last iteration's keys
 * completely, and compares them at the borders of the ranks.
 *
 * The number of ranks divides KEYS and is at most 256. "spoil" alters one
 * received key: the check must notice.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS 20 /* of a key */
#define BUCKETS 1024
#define SHIFT 10 /* a key's bucket: key >> SHIFT */

static int rank, size;

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

/* Four random numbers in one, their mean: a bell. */
static uint32_t key_of(uint64_t index)
{
    uint64_t h = mix(index * 0x9e3779b97f4a7c15ull + 1);
    uint64_t sum = (h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) +
                   (h >> 48);
    return (uint32_t)(sum << (BITS - 18));
}

/* Adds up over keys in any order; the same for the same keys only (but for
 * chances of 2^-64). */
static uint64_t trace_of(uint32_t key, uint64_t salt)
{
    uint64_t h = (key + salt) * 0xd6e8feb86659fd93ull;
    return (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
}

/* Counting sort of count keys of [low, low + range). Returns how many are
 * not in there; `sorted` then holds the others. */
static long sort(const uint32_t *keys, int count, uint32_t low, uint32_t range,
                 int *place, uint32_t *sorted)
{
    long strange = 0;
    memset(place, 0, (range + 1) * sizeof *place);
    for (int i = 0; i < count; i++) {
        uint32_t k = keys[i] - low;
        if (k < range)
            place[k + 1]++;
        else
            strange++;
    }
    for (uint32_t k = 0; k < range; k++) /* the rank of each value */
        place[k + 1] += place[k];
    for (int i = 0; sorted && i < count; i++) {
        uint32_t k = keys[i] - low;
        if (k < range)
            sorted[place[k]++] = keys[i];
    }
    return strange;
}

static long number(const char *text, long low, long high)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end || value < low || value > high ? -1 : value;
}

static void *need(size_t count, size_t bytes)
{
    void *block = calloc(count ? count : 1, bytes);
    if (!block) {
        fprintf(stderr, "is: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return block;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long keys = argc > 1 ? number(argv[1], 1, 1L << 30) : 1L << 22;
    long iterations = argc > 2 ? number(argv[2], 1, 1000000) : 150;
    int spoil = argc > 3 && !strcmp(argv[3], "spoil");
    if (keys < 1 || keys % size || size > BUCKETS / 4 || iterations < 1 ||
        argc > 3 + spoil) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: is [KEYS [ITERATIONS [spoil]]], KEYS at "
                    "most 2^30 and a multiple of the %d ranks, of which "
                    "there are at most %d\n",
                    size, BUCKETS / 4);
        MPI_Finalize();
        return 2;
    }

    int mine = (int)(keys / size), count = 0;
    int64_t *sizes = need(BUCKETS, sizeof *sizes);
    int64_t *all_sizes = need(BUCKETS, sizeof *all_sizes);
    int *at = need(BUCKETS, sizeof *at);        /* in `out` */
    int *first = need(size + 1, sizeof *first); /* bucket of each rank */
    int *sending = need(size, sizeof *sending);
    int *receiving = need(size, sizeof *receiving);
    int *from = need(size, sizeof *from), *to = need(size, sizeof *to);
    int *place = need((1u << BITS) + 1, sizeof *place);
    uint32_t *drawn = need(mine, sizeof *drawn);
    uint32_t *out = need(mine, sizeof *out);
    int room = mine + mine / 4; /* in `in`, grows */
    uint32_t *in = need(room, sizeof *in), low = 0, range = 0;

    uint64_t balance = 0, result = 0;
    double communication = 0, before;
    long wrong = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long step = 0; step < iterations; step++) {
        uint64_t salt = 2 * (uint64_t)step + 1;
        memset(sizes, 0, BUCKETS * sizeof *sizes);
        for (int i = 0; i < mine; i++) {
            drawn[i] = key_of((uint64_t)(step * keys + (long)rank * mine + i));
            sizes[drawn[i] >> SHIFT]++;
            balance += trace_of(drawn[i], salt);
        }
        before = MPI_Wtime();
        MPI_Allreduce(sizes, all_sizes, BUCKETS, MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;

        /* Rank r takes buckets up to where r + 1 shares are complete. */
        int64_t sum = 0;
        int whose = 0, offset = 0;
        for (int b = 0; b < BUCKETS; b++) {
            sum += all_sizes[b];
            while (whose < size - 1 && sum > (whose + 1) * (keys / size))
                first[++whose] = b;
        }
        while (whose < size)
            first[++whose] = BUCKETS;
        for (int r = 0; r < size; r++) {
            to[r] = offset;
            for (int b = first[r]; b < first[r + 1]; b++) {
                at[b] = offset;
                offset += (int)sizes[b];
            }
            sending[r] = offset - to[r];
        }
        for (int i = 0; i < mine; i++)
            out[at[drawn[i] >> SHIFT]++] = drawn[i];

        before = MPI_Wtime();
        MPI_Alltoall(sending, 1, MPI_INT, receiving, 1, MPI_INT,
                     MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;
        count = 0;
        for (int r = 0; r < size; r++) {
            from[r] = count;
            count += receiving[r];
        }
        if (count > room) {
            free(in);
            in = need(room = count, sizeof *in);
        }
        before = MPI_Wtime();
        MPI_Alltoallv(out, sending, to, MPI_UINT32_T, in, receiving, from,
                      MPI_UINT32_T, MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;
        if (spoil && step == iterations - 1 && rank == size - 1 && count)
            in[count / 2] ^= 1;

        low = (uint32_t)first[rank] << SHIFT;
        range = (uint32_t)(first[rank + 1] - first[rank]) << SHIFT;
        for (int i = 0; i < count; i++)
            balance -= trace_of(in[i], salt);
        wrong += sort(in, count, low, range, place, NULL);
        result += (uint64_t)place[range / 2]; /* the rank of one value */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed = MPI_Wtime() - start;

    /* In order inside the ranks, and from each to the next that has any. */
    uint32_t *sorted = need(count, sizeof *sorted);
    wrong += sort(in, count, low, range, place, sorted);
    for (int i = 1; i < count; i++)
        wrong += sorted[i - 1] > sorted[i];
    uint32_t edges[2] = {count ? sorted[0] : UINT32_MAX,
                         count ? sorted[count - 1] : 0};
    uint32_t *all_edges = need(size, sizeof edges), highest = 0;
    MPI_Allgather(edges, 2, MPI_UINT32_T, all_edges, 2, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    for (int r = 0; r < rank; r++)
        highest = all_edges[2 * r + 1] > highest ? all_edges[2 * r + 1]
                                                 : highest;
    wrong += count && edges[0] < highest;

    uint64_t parts[3] = {balance, (uint64_t)count, result}, sums[3];
    MPI_Allreduce(parts, sums, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    wrong += sums[0] != 0 || sums[1] != (uint64_t)keys;
    long all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("is: %d ranks, %ld keys, %.6f s, %s\n"
               "is: %ld iterations of %.3f us, communication %.6f s, "
               "result %llu\n",
               size, keys, elapsed, all ? "NOT VERIFIED" : "VERIFIED",
               iterations, elapsed / iterations * 1e6, communication,
               (unsigned long long)sums[2]);
    free(sizes), free(all_sizes), free(at), free(first), free(sending);
    free(receiving), free(from), free(to), free(place), free(drawn);
    free(out), free(in), free(sorted), free(all_edges);
    MPI_Finalize();
    return all != 0;
}
