/*
 * bench_kernels.c - what the kernels of `straightway bench datatypes` say of
 * themselves: a line of JSON for each message. Those with small arrays are
 * also packed and unpacked.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL ((size_t)8 << 20)

#define ONE(name) &sw_##name,
static const sw_kernel_t *const kernels[] = {SW_KERNELS(ONE)};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Size, and whether all of it lies in the array. */
static void put_type(const sw_kernel_t *k, const int *d, const char *name,
                     MPI_Datatype (*make)(const int *, size_t *))
{
    size_t at;
    MPI_Datatype type = make(d, &at);
    MPI_Aint lb, extent;
    int size;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &lb, &extent);
    long long first = (long long)at + lb, last = first + extent;
    printf(", \"%s\": %d, \"%s_inside\": %s", name, size, name,
           first >= 0 && last <= (long long)k->extent(d) ? "true" : "false");
    MPI_Type_free(&type);
}

static void put_loops(const sw_kernel_t *k, const int *d)
{
    char *array = calloc(1, k->extent(d)), *buffer = malloc(k->bytes(d));
    if (!array || !buffer)
        exit(1);
    printf(", \"packed\": %zu", k->pack(d, array, buffer));
    printf(", \"unpacked\": %zu", k->unpack(d, buffer, array));
    free(array);
    free(buffer);
}

static void put(const sw_kernel_t *k, const sw_kernel_shape_t *s)
{
    if (k->begin && !k->begin(s->d))
        exit(1);
    printf("{\"kernel\": \"%s\", \"application\": \"%s\", \"published\": %s, "
           "\"bytes\": %zu, \"extent\": %zu",
           k->name, k->application, s->published ? "true" : "false",
           k->bytes(s->d), k->extent(s->d));
    put_type(k, s->d, "sent", k->sent);
    put_type(k, s->d, "received", k->received);
    if (k->extent(s->d) <= SMALL)
        put_loops(k, s->d);
    puts("}");
    if (k->end)
        k->end();
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int k = 0; k < KERNELS; k++)
        for (int s = 0; s < kernels[k]->shape_count; s++)
            put(kernels[k], &kernels[k]->shapes[s]);
    MPI_Finalize();
    return 0;
}
