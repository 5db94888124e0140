/*
 * types_signature.h - the basic types, and random sequences of them: what two
 * datatypes must have in common to describe one message.
 *
 * A message is a short sequence, repeated. A datatype describes some of its
 * turns, so sender and receiver may cut it differently.
 */
#ifndef TYPES_SIGNATURE_H
#define TYPES_SIGNATURE_H

#include "mpi/test.h"

#define BASICS_MAX 80
#define SEQUENCE_MAX 12

typedef struct {
    const char *name;
    MPI_Datatype type;
    int size; /* its extent too */
    int data; /* of which so many bytes carry its value */
} basic_t;

static basic_t basics[BASICS_MAX];
static int basic_count;
static int word; /* a basic type of 8 bytes */

/* A predefined type of two basic ones. */
typedef struct {
    const char *name;
    MPI_Datatype type;
    int first, second; /* basic types */
    ptrdiff_t at;      /* of the second, as C places it */
} pair_t;

static pair_t pairs[16];
static int pair_count;

/* Without types that this host does not have; -1 for those. */
static int basic_add(const char *name, MPI_Datatype type)
{
    int size = 0;
    MPI_Aint lb = 0, extent = 0;
    if (type == MPI_DATATYPE_NULL ||
        MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0)
        return -1;
    MPI_Type_get_extent(type, &lb, &extent);
    if (lb != 0 || extent != size)
        return -1;
    CHECK(basic_count < BASICS_MAX, "too many basic types");
    basics[basic_count] = (basic_t){name, type, size, size};
#if defined(__x86_64__)
    if (type == MPI_LONG_DOUBLE)
        basics[basic_count].data = 10;
#endif
    return basic_count++;
}

static int basic_of(MPI_Datatype type)
{
    for (int i = 0; i < basic_count; i++)
        if (basics[i].type == type)
            return i;
    return -1;
}

static void pair_add(const char *name, MPI_Datatype type, MPI_Datatype first,
                     MPI_Datatype second, ptrdiff_t at)
{
    int a = basic_of(first), b = basic_of(second), size = 0;
    if (a < 0 || b < 0 || MPI_Type_size(type, &size) != MPI_SUCCESS ||
        size != basics[a].size + basics[b].size)
        return;
    pairs[pair_count++] = (pair_t){name, type, a, b, at};
}

#define BASIC(type) basic_add(#type, type)
#define PAIR(type, a, b, at) pair_add(#type, type, a, b, at)
#define SECOND(first, second) \
    offsetof(                 \
        struct {              \
            first a;          \
            second b;         \
        },                    \
        b)

/* The parametrised types of Fortran 90: not every host can make them. */
static void basics_of_f90(void)
{
    static const int ranges[] = {2, 4, 9, 18};
    static char name[12][32];
    int n = 0;
    for (size_t i = 0; i < LENGTH(ranges); i++, n++) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        snprintf(name[n], sizeof name[n], "f90_integer(%d)", ranges[i]);
        if (MPI_Type_create_f90_integer(ranges[i], &type) == MPI_SUCCESS)
            basic_add(name[n], type);
    }
    for (int both = 0; both < 2; both++)
        for (int p = 6; p <= 15; p += 9, n++) {
            MPI_Datatype type = MPI_DATATYPE_NULL;
            snprintf(name[n], sizeof name[n], "f90_%s(%d,30)",
                     both ? "complex" : "real", p);
            if ((both ? MPI_Type_create_f90_complex(p, 30, &type)
                      : MPI_Type_create_f90_real(p, 30, &type)) == MPI_SUCCESS)
                basic_add(name[n], type);
        }
}

static void basics_make(bool f90)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    BASIC(MPI_CHAR);
    BASIC(MPI_INT);
    word = BASIC(MPI_DOUBLE);
    BASIC(MPI_BYTE);
    BASIC(MPI_FLOAT);
    BASIC(MPI_SHORT);
    BASIC(MPI_LONG);
    BASIC(MPI_LONG_LONG);
    BASIC(MPI_SIGNED_CHAR);
    BASIC(MPI_UNSIGNED_CHAR);
    BASIC(MPI_UNSIGNED_SHORT);
    BASIC(MPI_UNSIGNED);
    BASIC(MPI_UNSIGNED_LONG);
    BASIC(MPI_UNSIGNED_LONG_LONG);
    BASIC(MPI_WCHAR);
    BASIC(MPI_INT8_T);
    BASIC(MPI_INT16_T);
    BASIC(MPI_INT32_T);
    BASIC(MPI_INT64_T);
    BASIC(MPI_UINT8_T);
    BASIC(MPI_UINT16_T);
    BASIC(MPI_UINT32_T);
    BASIC(MPI_UINT64_T);
    BASIC(MPI_AINT);
    BASIC(MPI_COUNT);
    BASIC(MPI_OFFSET);
    BASIC(MPI_C_BOOL);
    BASIC(MPI_C_FLOAT_COMPLEX);
    BASIC(MPI_C_DOUBLE_COMPLEX);
    BASIC(MPI_LONG_DOUBLE);
    BASIC(MPI_INTEGER);
    BASIC(MPI_REAL);
    BASIC(MPI_DOUBLE_PRECISION);
    BASIC(MPI_COMPLEX);
    BASIC(MPI_LOGICAL);
    BASIC(MPI_CHARACTER);
    BASIC(MPI_INTEGER4);
    BASIC(MPI_INTEGER8);
    BASIC(MPI_REAL8);
    PAIR(MPI_FLOAT_INT, MPI_FLOAT, MPI_INT, SECOND(float, int));
    PAIR(MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT, SECOND(double, int));
    PAIR(MPI_LONG_INT, MPI_LONG, MPI_INT, SECOND(long, int));
    PAIR(MPI_2INT, MPI_INT, MPI_INT, SECOND(int, int));
    PAIR(MPI_SHORT_INT, MPI_SHORT, MPI_INT, SECOND(short, int));
    PAIR(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT,
         SECOND(long double, int));
    PAIR(MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER, SECOND(int, int));
    PAIR(MPI_2REAL, MPI_REAL, MPI_REAL, SECOND(float, float));
    PAIR(MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION,
         SECOND(double, double));
    if (f90)
        basics_of_f90();
}

/* A sequence, repeated. */
typedef struct {
    short basic[SEQUENCE_MAX];
    int n, size; /* basic types and bytes of one turn */
} signature_t;

/* Mostly the types that most programs use. */
static short draw_basic(rng_t *r)
{
    return (short)rng_below(r, rng_one_in(r, 2) ? 5 : (size_t)basic_count);
}

static signature_t draw_signature(rng_t *r)
{
    signature_t s = {.n = 0};
    switch (rng_below(r, 5)) {
    case 4: /* words, and halves of words */
        for (int i = 1 + (int)rng_below(r, 4); i > 0; i--) {
            short a = draw_basic(r), b = draw_basic(r);
            if (basics[a].size == 4 && basics[b].size == 4)
                s.basic[s.n++] = b;
            if (basics[a].size == 4 && basics[b].size == 4)
                s.basic[s.n++] = a;
            else if (basics[a].size == 8)
                s.basic[s.n++] = a;
            else
                s.basic[s.n++] = basics[b].size == 8 ? b : (short)word;
        }
        break;
    case 0: s.basic[s.n++] = draw_basic(r); break;
    case 1: { /* runs */
        for (int i = 1 + (int)rng_below(r, 3); i > 0; i--) {
            short basic = draw_basic(r);
            for (int k = 1 + (int)rng_below(r, 4); k > 0; k--)
                s.basic[s.n++] = basic;
        }
        break;
    }
    case 2: /* what a pair is made of */
        if (pair_count) {
            const pair_t *p = &pairs[rng_below(r, (size_t)pair_count)];
            s.basic[s.n++] = (short)p->first;
            s.basic[s.n++] = (short)p->second;
        }
        if (s.n && rng_one_in(r, 2))
            break;
        /* fall through */
    default:
        for (int i = 1 + (int)rng_below(r, 7); i > 0; i--)
            s.basic[s.n++] = draw_basic(r);
    }
    for (int i = 0; i < s.n; i++)
        s.size += basics[s.basic[i]].size;
    return s;
}

/* The shortest sequence of which seq is repetitions. */
static int period(const short *seq, int n)
{
    int *border = malloc(((size_t)n + 1) * sizeof *border), b = 0;
    border[0] = 0;
    for (int i = 1; i < n; i++) {
        while (b > 0 && seq[i] != seq[b])
            b = border[b - 1];
        if (seq[i] == seq[b])
            b++;
        border[i] = b;
    }
    int p = n - (n > 0 ? border[n - 1] : 0);
    free(border);
    return p > 0 && n % p == 0 ? p : n;
}

/* May a message of it be cut at any 8 bytes? No number may be cut then.
 * (Complex ones are two numbers to some hosts, and one to others.) MPICH and
 * its kin err even so where the basic types differ. */
static bool cuts_well(const signature_t *s)
{
    int at = 0;
    for (int i = 0; i < s->n; i++) {
        const basic_t *b = &basics[s->basic[i]];
        int size = b->size;
        if (size > 8 || at % size || 8 % size || strstr(b->name, "COMPLEX") ||
            strstr(b->name, "complex"))
            return false;
        at += size;
    }
#ifndef OMPI_MAJOR_VERSION
    if (period(s->basic, s->n) > 1)
        return false;
#endif
    return at % 8 == 0 || 8 % at == 0;
}

#endif
