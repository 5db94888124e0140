/*
 * capture.c - the capture of a stream's work into a graph, as far as it can
 * break under a library's calls.
 *
 * A capture in global mode forbids unsafe calls to every thread, one in local
 * mode to its own thread. A thread that has made itself relaxed may make them.
 * A forbidden call spoils the captures that forbid it.
 */
#include "inside.h"

enum { GLOBAL, LOCAL, RELAXED };

#define CAPTURES 16

static stream_t *captured[CAPTURES];
static _Thread_local int mode;
static _Thread_local char me; /* its address is the thread's name */

static unsigned long my_name(void)
{
    return (uintptr_t)&me;
}

bool capture_forbids(void)
{
    bool forbids = false;
    for (int i = 0; i < CAPTURES && mode != RELAXED; i++) {
        stream_t *s = captured[i];
        int theirs = s ? s->capture - 1 : RELAXED;
        bool own = s && s->captor == my_name() && theirs != RELAXED;
        if (own || (theirs == GLOBAL && mode == GLOBAL))
            forbids = s->spoilt = true;
    }
    return forbids;
}

bool capture_beside(const context_t *c, bool spoils)
{
    bool beside = false;
    for (int i = 0; i < CAPTURES; i++)
        if (captured[i] && captured[i]->context == c && captured[i]->blocking) {
            captured[i]->spoilt |= spoils;
            beside = true;
        }
    return beside;
}

EXPORTED int cuThreadExchangeStreamCaptureMode(int *value)
{
    CALL(DRIVER);
    int before = mode;
    if (*value < GLOBAL || *value > RELAXED)
        return INVALID_VALUE;
    mode = *value;
    *value = before;
    return 0;
}

EXPORTED int cuStreamBeginCapture_v2(handle_t stream, int how)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(stream, &s), i = 0;
    if (code)
        return code;
    if (how < GLOBAL || how > RELAXED || s->capture)
        return INVALID_VALUE;
    while (i < CAPTURES && captured[i])
        i++;
    if (s == s->context->legacy || i == CAPTURES)
        return CAPTURE_FORBIDS;
    captured[i] = s;
    s->capture = 1 + how;
    s->captor = my_name();
    s->spoilt = false;
    return 0;
}

EXPORTED int cuStreamEndCapture(handle_t stream, handle_t *graph)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(stream, &s);
    if (code)
        return code;
    if (!s->capture)
        return INVALID_VALUE;
    for (int i = 0; i < CAPTURES; i++)
        if (captured[i] == s)
            captured[i] = NULL;
    s->capture = 0;
    *graph = s->spoilt ? NULL : s;
    return s->spoilt ? CAPTURE_INVALID : 0;
}

EXPORTED int cuStreamIsCapturing(handle_t stream, int *status)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(stream, &s);
    if (!code && s == s->context->legacy && capture_beside(s->context, false))
        code = CAPTURE_IMPLICIT;
    if (!code)
        *status = !s->capture ? 0 : s->spoilt ? 2 : 1;
    return code;
}
