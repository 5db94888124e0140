/* A program that calls what straightway.h offers, and links with nothing. It
 * compiles as C and as C++, as a program and as a shared object. */
#include <straightway.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C"
#endif
    void make_calls(void);

void make_calls(void)
{
    straightway_region_begin("solver");
    straightway_region_end("solver");
    printf("version %d, accelerate %d, profile %d\n", straightway_version(),
           straightway_accelerate(-1), straightway_profile(-1));
}

#ifndef NO_MAIN
int main(void)
{
    make_calls();
    return 0;
}
#endif
