/*
 * computing.c - see computing.h. The moment is as far ahead as the slowest
 * rank has lately needed, and a little more. A rank that is still late spoils
 * one sample.
 */
#include "computing.h"
#include "sampling.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define MARGIN 5e-6 /* seconds: the way out of the agreement */

static unsigned char *memory;
static size_t swept;
static double needed; /* seconds, lately */

bool sw_computing_prepare(size_t bytes)
{
    swept = bytes;
    memory = malloc(bytes ? bytes : 1);
    int good = memory != NULL, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, sw_run.comm);
    if (all)
        memset(memory, 1, bytes);
    return all;
}

/* Write every line, without changing its content. */
static void write_over(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        size_t n = bytes - i < sizeof(uint64_t) ? bytes - i : sizeof(uint64_t);
        uint64_t word;
        memcpy(&word, at + i, n);
        __asm__ volatile("" : "+r"(word));
        memcpy(at + i, &word, n);
    }
}

static void read_over(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE)
        (void)*(const volatile unsigned char *)(at + i);
}

double sw_computing(void *sent, size_t sent_bytes, const void *received,
                    size_t received_bytes)
{
    double mine[2] = {sw_now(), needed}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, sw_run.comm);
    double moment = all[0] + 1.25 * all[1] + MARGIN, begun = sw_now();
    read_over(received, received_bytes);
    for (size_t i = 0; i < swept; i += LINE)
        memory[i]++;
    write_over(sent, sent_bytes);
    double now = sw_now();
    needed = now - begun > needed ? now - begun : 0.9 * needed;
    while (now < moment)
        now = sw_now();
    return moment;
}
