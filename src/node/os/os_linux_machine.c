/*
 * os_linux_machine.c - sw_os_machine: see os.h.
 */
#include "os.h"

#include "node/base/crc.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first processor's: its entry comes first. */
enum { ENTRY = 4096 };

/* The line of /proc/cpuinfo that begins so; its length is 0 without one. */
static const char *line_of(const char *text, const char *word, size_t *length)
{
    size_t n = strlen(word);
    *length = 0;
    while (*text) {
        size_t line = strcspn(text, "\n");
        if (line > n && !strncmp(text, word, n)) {
            *length = line;
            return text;
        }
        text += line + (text[line] == '\n');
    }
    return text;
}

/* x86, then Arm, then POWER. */
static uint32_t model(uint32_t crc)
{
    static const char *const words[] = {"model name", "CPU part", "cpu\t"};
    char text[ENTRY];
    if (sw_os_read_text("/proc/cpuinfo", text, sizeof text) < 0)
        return crc;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length;
        const char *line = line_of(text, words[i], &length);
        if (length)
            return sw_crc32(crc, line, length);
    }
    return crc;
}

void sw_os_machine(char to[SW_OS_MACHINE])
{
    struct utsname name;
    char text[sizeof name.release + 32];
    uname(&name);
    int n = snprintf(text, sizeof text, "%ld %s", sysconf(_SC_NPROCESSORS_ONLN),
                     name.release);
    snprintf(to, SW_OS_MACHINE, "%08x", model(sw_crc32(0, text, (size_t)n)));
}
