/* Starts a thread without the threads library, and goes on in turns. */
#define _GNU_SOURCE
#include "begin.h"
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

WATCHED int turn(int n) { return n + 1; }
WATCHED long work(long x) { return x * 3 + 1; }

static char stack[1 << 16];
static int other(void *nothing) {
    for (;;) __asm__ volatile("syscall" ::"a"(34) : "rcx", "r11", "memory"); /* pause */
    return nothing != 0;
}

int main(void) {
    begin();
    fcntl(0, F_SETFL, O_NONBLOCK);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(other, stack + sizeof stack, flags, 0) < 0) return 1;
    long sum = 0;
    char byte;
    while (read(0, &byte, 1) != 0) {
        sum += work(turn(1));
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    }
    printf("%s\n", sum > 0 ? "right" : "wrong");
    fflush(stdout);
    _exit(0);
}
