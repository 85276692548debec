/* Tells strings that lie before a page which cannot be read: each length, so that each ends at its last byte. */
#define _GNU_SOURCE
#include "begin.h"
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LONGEST = 140 };

static volatile long told;
WATCHED void state(int word, const char *text) { told += word + (text != 0); }

int main(void) {
    begin();
    char *pages = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 2 * PAGE, PAGE, PROT_NONE) != 0) return 1;
    for (int length = 0; length <= LONGEST; length++)
        for (int end = PAGE; end <= 2 * PAGE; end += PAGE) { /* within two pages, and from one to the next */
            char *text = pages + end - (end == PAGE ? length / 2 : length + 1);
            memset(pages, '?', 2 * PAGE);
            for (int place = 0; place < length; place++) text[place] = (char)(1 + (length + place) % 255);
            text[length] = 0;
            state(1, text);
        }
    return 0;
}
