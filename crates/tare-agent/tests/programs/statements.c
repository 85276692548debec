/* Says what it does, with a statement's literals in it: ROUND other statements for each line of input. */
#include "begin.h"

static volatile long told;
WATCHED void state(int word, const char *text) { told += word + (text != 0); }

enum { ROUND = 500, IDLE = 4, RUNNING = 1 };

int main(void) {
    char text[64];
    for (int round = 0; getchar() == '\n'; round++)
        for (int place = 0; place < ROUND; place++) {
            snprintf(text, sizeof text, "SELECT %d", round * ROUND + place);
            state(RUNNING, text); /* bound, */
            state(RUNNING, text); /* and executed */
            state(IDLE, 0);
        }
    return 0;
}
