/* A program with marks; C and C++. */
#include "tare_profile.h"

int main(void)
{
    tare_begin(1);
    tare_label(1, "payment");
    tare_suspend(1);
    tare_resume(1);
    tare_end(1);
    tare_begin(0x0fffffffffffffffu);
    return 0;
}
