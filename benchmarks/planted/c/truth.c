/* What really happened, by transaction: kept in memory, written once at the end. */
#include "planted.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4000000u

static struct truth *kept;
static atomic_uint_fast64_t begun;

__attribute__((constructor)) static void reserve(void) {
    kept = calloc(MOST, sizeof *kept); /* pages come as they are written to */
    if (!kept) abort();
}

struct truth *truth_new(void) {
    if (stopping) return 0;
    uint64_t at = atomic_fetch_add(&begun, 1);
    if (at >= MOST || (asked.transactions && at >= asked.transactions)) {
        stopping = 1;
        return 0;
    }
    kept[at].id = at + 1;
    return &kept[at];
}

/* Those that have ended: id,tid,type,begin_ns,duration_ns,first_ns,second_ns. */
int truth_write(const char *path) {
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "id,tid,type,begin_ns,duration_ns,first_ns,second_ns\n");
    uint64_t count = atomic_load(&begun);
    for (uint64_t i = 0; i < count && i < MOST; i++) {
        const struct truth *one = &kept[i];
        if (one->duration_ns)
            fprintf(file, "%lu,%d,%u,%lu,%lu,%lu,%lu\n", one->id, one->tid, one->type, one->begin_ns,
                    one->duration_ns, one->first_ns, one->second_ns);
    }
    return path ? fclose(file) : fflush(file);
}
