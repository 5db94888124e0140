/* depth.c - see front.h. */
#include "front.h"

_Thread_local int sw_depth __attribute__((tls_model("initial-exec")));
