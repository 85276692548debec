#include "begin.h"
#include <sys/wait.h>
#include <unistd.h>

WATCHED int leaf(int x) { return x + 1; }
/* Forks within watched functions: the child returns through frames that its parent entered. */
WATCHED int forker(int depth) {
    if (depth) return forker(depth - 1) + leaf(depth);
    fflush(stdout);
    return fork() ? 1000 : 2000;
}

int main(void) {
    begin();
    for (int round = 0; round < 20; round++) {
        int got = forker(10);
        if (got >= 2000) {
            for (int i = 0; i < 100; i++) got = leaf(got);
            _exit(got == 2000 + 65 + 100 ? 7 : 8);
        }
        int status;
        wait(&status);
        if (got != 1000 + 65 || WEXITSTATUS(status) != 7) return 1;
    }
    if (vfork() == 0) {
        leaf(1);
        execl("/bin/true", "true", (char *)0);
        _exit(9);
    }
    int status;
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
