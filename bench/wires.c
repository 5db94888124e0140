/*
 * wires.c - see wires.h.
 *
 * /proc/self/fd names what the process has opened. A socket has a number there,
 * by which /proc/self/net/tcp knows its two ends.
 */
#include "wires.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A node has fewer addresses and adapters than this. */
enum { MOST = 64, TEXT = INET6_ADDRSTRLEN };

/* Texts, each once. */
typedef struct {
    char text[MOST][TEXT];
    int count;
} list_t;

void sw_wires_use(const sw_nodes_t *nodes, MPI_Comm comm)
{
    int rank, other = 0;
    char out[SW_NODE_NAME] = "", in[SW_NODE_NAME];
    if (nodes->count < 2)
        return;
    MPI_Comm_rank(comm, &rank);
    while (nodes->of[other] == nodes->of[0])
        other++;
    if (rank == 0 || rank == other)
        MPI_Sendrecv(out, SW_NODE_NAME, MPI_CHAR, other - rank, 0, in,
                     SW_NODE_NAME, MPI_CHAR, other - rank, 0, comm,
                     MPI_STATUS_IGNORE);
}

static void add(list_t *list, const char *text)
{
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->text[i], text))
            return;
    if (list->count < MOST)
        snprintf(list->text[list->count++], TEXT, "%s", text);
}

static void put(FILE *file, const char *name, const list_t *list)
{
    fprintf(file, "\"%s\": [", name);
    for (int i = 0; i < list->count; i++)
        fprintf(file, "%s\"%s\"", i ? ", " : "", list->text[i]);
    fputc(']', file);
}

/* "0100A8C0" as an address; the kernel writes words of 32 bits. */
static const char *address(const char *digits, char to[INET6_ADDRSTRLEN])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    unsigned words[4];
    size_t n = strlen(digits) / 8;
    for (size_t i = 0; i < n && i < 4; i++) {
        char word[9] = "";
        memcpy(word, digits + 8 * i, 8);
        words[i] = (unsigned)strtoul(word, NULL, 16);
    }
    if (n == 1)
        return inet_ntop(AF_INET, words, to, INET6_ADDRSTRLEN);
    if (n != 4)
        return NULL;
    return memcmp(words, mapped, sizeof mapped)
               ? inet_ntop(AF_INET6, words, to, INET6_ADDRSTRLEN)
               : inet_ntop(AF_INET, &words[3], to, INET6_ADDRSTRLEN);
}

/* A connection whose two ends have one address stays on the machine. */
static void find_connection(unsigned long socket, const char *path, list_t *tcp)
{
    FILE *file = fopen(path, "r");
    char line[512], from[40], to[40];
    char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];
    unsigned state;
    unsigned long number;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line,
                   " %*d: %39[0-9A-F]:%*x %39[0-9A-F]:%*x %x %*s %*s "
                   "%*s %*s %*s %lu",
                   from, to, &state, &number) != 4 ||
            number != socket || state != 1 || !address(from, a) ||
            !address(to, b) || !strcmp(a, b))
            continue;
        add(tcp, a);
    }
    if (file)
        fclose(file);
}

static bool is_adapter(const char *path)
{
    static const char *const begins[] = {"/dev/infiniband/uverbs",
                                         "/dev/cxi",
                                         "/dev/hfi1",
                                         "/dev/kgni",
                                         "/dev/ipath",
                                         "/dev/usnic"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(path, begins[i], strlen(begins[i])))
            return true;
    return false;
}

void sw_wires_put(FILE *file)
{
    static list_t tcp, devices;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *one; folder && (one = readdir(folder));) {
        char path[TEXT] = "";
        unsigned long socket;
        if (readlinkat(dirfd(folder), one->d_name, path, sizeof path - 1) < 0)
            continue;
        if (sscanf(path, "socket:[%lu]", &socket) == 1) {
            find_connection(socket, "/proc/self/net/tcp", &tcp);
            find_connection(socket, "/proc/self/net/tcp6", &tcp);
        } else if (is_adapter(path)) {
            add(&devices, path);
        }
    }
    if (folder)
        closedir(folder);
    fputs(", \"wires\": {", file);
    put(file, "tcp", &tcp);
    fputs(", ", file);
    put(file, "devices", &devices);
    fputc('}', file);
}
