/* A server of one thread: turn after turn of the same work, until its input ends. Its last words are how often what came out was
   right. */
#include "begin.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

WATCHED int turn(int n) { return n + 1; }
WATCHED long work(long x) { return x * 3 + 1; }
/* More than a page of code, so that the next function is on another. */
__asm__(".text\n.fill 8192, 1, 0x90\n");
WATCHED __attribute__((section(".text.apart"))) long rest(long x) { return x - 2; }

static int serve(void) {
    int turns = 0, right = 0;
    char byte;
    for (;;) {
        turns = turn(turns);
        right += work(turns) == turns * 3 + 1 && rest(turns) == turns - 2;
        if (read(0, &byte, 1) == 0) return turns == right ? turns : -1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    }
}

int main(int argc, char **argv) {
    begin();
    fcntl(0, F_SETFL, O_NONBLOCK);
    if (argc > 1 && fork()) { /* the child serves */
        int status;
        wait(&status);
        return WEXITSTATUS(status);
    }
    int turns = serve();
    printf("%s\n", turns > 0 ? "right" : "wrong");
    fflush(stdout);
    _exit(0);
}
