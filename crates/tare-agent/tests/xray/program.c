/* What the tests of sleds watch. Every line on stdin is a command; what it did is told on stdout.
 *   calls N      outer(i) for i from 0 to N-1
 *   say WORD     named(3, WORD)
 *   mark ID      its transaction begins, is named, waits, goes on and ends
 *   fork N       a child, which stays, does the calls when the next line comes, and then ends */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tare_profile.h"

#define KEPT __attribute__((noinline))

volatile uint64_t sink;

KEPT uint64_t inner(uint64_t x) { return sink = x * 3; }
#if defined(__clang__)
__attribute__((xray_never_instrument))
#endif
KEPT uint64_t unsledded(uint64_t x) { return sink = x * 5; }
KEPT uint64_t tail(uint64_t x) { return inner(x + 1); }
KEPT uint64_t recursive(uint64_t x) { return x ? recursive(x - 1) + (sink = x) : 0; }
KEPT uint64_t outer(uint64_t x) { return inner(x) + tail(x) + recursive(2) + unsledded(x); }
KEPT uint64_t named(uint64_t kind, const char *text) { return sink = kind + strlen(text); }

static void calls(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) sink = outer(i);
}

static void marks(uint64_t id) {
    tare_begin(id);
    tare_label(id, "kind");
    tare_suspend(id);
    tare_resume(id);
    inner(1);
    tare_end(id);
}

static void next(char *line, int size) {
    if (!fgets(line, size, stdin)) _exit(0);
}

int main(void) {
    char line[256], word[200];
    unsigned long a;
    setvbuf(stdin, 0, _IONBF, 0);
    for (;;) {
        next(line, sizeof line);
        if (sscanf(line, "calls %lu", &a) == 1) calls(a);
        else if (sscanf(line, "say %199[^\n]", word) == 1) sink = named(3, word);
        else if (sscanf(line, "mark %lu", &a) == 1) marks(a);
        else if (sscanf(line, "fork %lu", &a) == 1) {
            pid_t child = fork();
            if (!child) {
                printf("forked\n");
                fflush(stdout);
                next(line, sizeof line);
                calls(a);
                _exit(0);
            }
            waitpid(child, 0, 0);
        }
        printf("done\n");
        fflush(stdout);
    }
}
