/* Two shared objects of one shape: FRAME is how large the frame is. */
__attribute__((visibility("default"))) void call(void (*back)(void))
{
    volatile char frame[FRAME];
    frame[0] = 1;
    back();
    frame[FRAME - 1] = frame[0];
}
