/*
 * suggest.c - "did you mean": the edit distance between two words.
 *
 * Optimal string alignment (insert, delete, replace, swap neighbours) over
 * words of at most 31 letters. A word is near when at most a third of its
 * letters are wrong, and at least one typo is always forgiven; a word that is
 * the beginning of exactly what was meant counts as near too (--stat).
 */
#include "command.h"

#include <string.h>

#define LONGEST 31

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return 2 * LONGEST;
    int cost[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= n; i++)
        cost[i][0] = i;
    for (int j = 0; j <= m; j++)
        cost[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int c = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            c = least(c, cost[i - 1][j] + 1);
            c = least(c, cost[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                c = least(c, cost[i - 2][j - 2] + 1);
            cost[i][j] = c;
        }
    return cost[n][m];
}

const char *sw_command_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t letters = strspn(word, "-");
    int bound = (int)(strlen(word) - letters) / 3;
    if (bound < 1)
        bound = 1;
    int nearest = bound + 1;
    for (int i = 0; names[i]; i++) {
        int d = distance(word, names[i]);
        if (d < nearest) {
            nearest = d;
            best = names[i];
        }
    }
    for (int i = 0; !best && names[i]; i++)
        if (strlen(word) >= letters + 3 &&
            !strncmp(word, names[i], strlen(word)))
            best = names[i];
    return best;
}
