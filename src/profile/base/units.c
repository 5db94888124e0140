/*
 * units.c - see units.h.
 */
#include "units.h"

#include <stdio.h>
#include <string.h>

/* Three digits of a value below 1000, and its unit. */
static sw_units_t three(double value, const char *unit)
{
    sw_units_t to;
    int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(to.text, sizeof to.text, "%.*f %s", digits, value, unit);
    return to;
}

/* A whole number with a comma before each three digits. */
static sw_units_t whole(uint64_t value, const char *unit)
{
    sw_units_t to;
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            to.text[at++] = ',';
        to.text[at++] = digits[i];
    }
    snprintf(to.text + at, sizeof to.text - at, "%s%s", *unit ? " " : "", unit);
    return to;
}

static sw_units_t scaled(double value, const char *unit)
{
    return value >= 999.5 ? whole((uint64_t)(value + 0.5), unit)
                          : three(value, unit);
}

sw_units_t sw_units_duration(double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (int i = 0; i < 3; i++)
        if (ns >= 0.9995 * units[i].ns)
            return scaled(ns / units[i].ns, units[i].name);
    return ns >= 0.5 ? whole((uint64_t)(ns + 0.5), "ns") : whole(0, "s");
}

sw_units_t sw_units_share(double part)
{
    sw_units_t to;
    double percent = 100 * part;
    if (percent <= 0 || percent >= 99.95)
        snprintf(to.text, sizeof to.text, "%.0f %%",
                 percent <= 0 ? 0.0 : percent);
    else if (percent < 0.01)
        strcpy(to.text, "<0.01 %");
    else
        snprintf(to.text, sizeof to.text, "%.*f %%", percent >= 0.1 ? 1 : 2,
                 percent);
    return to;
}

sw_units_t sw_units_number(uint64_t count)
{
    static const struct {
        double least, unit;
        const char *name;
    } units[] = {{1e15, 1e15, "P"},
                 {1e12, 1e12, "T"},
                 {1e9, 1e9, "G"},
                 {1e6, 1e6, "M"},
                 {1e4, 1e3, "k"}};
    for (int i = 0; i < 5; i++)
        if ((double)count >= units[i].least)
            return scaled((double)count / units[i].unit, units[i].name);
    return whole(count, "");
}
