/* Says one thing; another thread says many; then says the first again and again, until its input ends. */
#include "begin.h"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static volatile long told;
WATCHED void state(int word, const char *text) { told += word + (text != 0); }

enum { MANY = 3000, IDLE = 4, RUNNING = 1 };

static void *many(void *none) {
    char text[64];
    for (int place = 0; place < MANY; place++) {
        snprintf(text, sizeof text, "SELECT %d", place);
        state(RUNNING, text);
        state(IDLE, 0);
    }
    return none;
}

int main(void) {
    char byte;
    pthread_t other;
    begin();
    state(RUNNING, "SELECT again");
    state(IDLE, 0);
    if (pthread_create(&other, 0, many, 0) != 0 || pthread_join(other, 0) != 0) return 1;
    fcntl(0, F_SETFL, O_NONBLOCK);
    while (read(0, &byte, 1) != 0) {
        state(RUNNING, "SELECT again");
        state(IDLE, 0);
        usleep(100);
    }
    return 0;
}
