/*
 * span_names.c - see span_names.h.
 */
#include "span_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof array / sizeof *array)

/* The place in a text that begins with `word`, in any case, or NULL. */
static const char *find(const char *text, const char *word)
{
    size_t n = strlen(word);
    while (*text && strncasecmp(text, word, n))
        text++;
    return *text ? text : NULL;
}

/* The length of a version such as 5.0.11 or 4.1.0rc2 at `text`, or 0. */
static int version_length(const char *text)
{
    const char *at = text;
    int dots = 0;
    while (isdigit((unsigned char)*at)) {
        while (isdigit((unsigned char)*at))
            at++;
        if (*at != '.' || !isdigit((unsigned char)at[1]))
            break;
        at++;
        dots++;
    }
    while (dots && isalnum((unsigned char)*at))
        at++;
    return dots ? (int)(at - text) : 0;
}

void sw_span_name_host(const char *version, char to[SW_SPAN_NAME])
{
    static const char *const kinds[][2] = {
        {"Open MPI", "openmpi"}, {"Intel", "intel"}, {"MVAPICH", "mvapich"},
        {"Cray", "cray"},        {"MPICH", "mpich"}, {"", "mpi"},
    };
    size_t k = 0;
    while (*kinds[k][0] && !find(version, kinds[k][0]))
        k++;
    const char *at = version;
    int length = 0;
    while (*at && !(length = version_length(at))) {
        at += strspn(at, "0123456789");
        at += *at != 0;
    }
    if (length > SW_SPAN_NAME / 2)
        length = SW_SPAN_NAME / 2;
    snprintf(to, SW_SPAN_NAME, "%s%s%.*s", kinds[k][1], length ? "-" : "",
             length, at);
}

/* The first word of a list that names a transport between nodes. A list of what
 * the host shall leave out (^sm) names none. */
static const char *between_nodes(const char *list)
{
    static const char *const inside[] = {"self", "sm", "vader", "ob1", "shm"};
    while (*list && *list != '^') {
        size_t n = strcspn(list, ",;:"), i = 0;
        while (i < COUNT(inside) &&
               (strlen(inside[i]) != n || strncasecmp(list, inside[i], n)))
            i++;
        if (isalnum((unsigned char)*list) && i == COUNT(inside))
            return list;
        list += n + (list[n] != 0);
    }
    return NULL;
}

void sw_span_name_transport(const char *host, char to[SW_SPAN_NAME])
{
    static const char *const told[][2] = {
        {"openmpi", "OMPI_MCA_pml"},
        {"openmpi", "OMPI_MCA_btl"},
        {"intel", "I_MPI_OFI_PROVIDER"},
        {"mpich", "MPIR_CVAR_OFI_USE_PROVIDER"},
        {"intel", "FI_PROVIDER"},
        {"mpich", "FI_PROVIDER"},
    };
    const char *word = NULL;
    for (size_t i = 0; i < COUNT(told) && !word; i++) {
        const char *list = getenv(told[i][1]);
        if (list && !strncmp(host, told[i][0], strlen(told[i][0])))
            word = between_nodes(list);
    }
    if (!word)
        word = "default";
    int n = 0;
    for (; n < SW_SPAN_NAME - 1; n++) {
        unsigned char c = (unsigned char)word[n];
        if (!c || (!isalnum(c) && !strchr("_+-.", c)))
            break;
        to[n] = (char)tolower(c);
    }
    to[n] = '\0';
}
