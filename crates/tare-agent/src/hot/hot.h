/* What Rust and C share: crates/tare-agent/src/runtime.rs has the same, and crates/tare-rings/src/layout.rs the slots. */
#pragma once
#include <stdint.h>

struct record {
    uint64_t time;
    uint32_t word, detail;
};

struct slot {
    uint32_t state, pid, tid, number;
    uint64_t spare[6];
    uint64_t head, lost, spare_head[6];
    uint64_t tail, spare_tail[7];
};
_Static_assert(sizeof(struct slot) == 192, "tare_rings::layout::Slot");

struct text {
    uint32_t hash, ready;
    char text[120];
};
_Static_assert(sizeof(struct text) == 128, "tare_rings::layout::Text");

/* A mapped file: return addresses in it are told as addresses of the file. */
struct object {
    uint64_t begin, end, base;
};

struct runtime {
    /* All that a plain call needs, in one line of cache. */
    uint8_t *switches;
    uint64_t self;         /* from the thread pointer to where `struct thread *` is */
    uint64_t program, span; /* where the program's own image is, up to the end of its code */
    uint32_t ticks, applied; /* not 0: the processor's time stamps cannot be used; this process's generation */
    const uint32_t *modes;
    struct slot *slots;
    uint8_t *rings;
    struct text *texts;
    const uint64_t *sites; /* by function: where it returns to while it is watched */
    const struct object *objects;
    uint32_t *marks, *stopped, *used, *claims, *kept;
    uint64_t *heartbeat, *unplaced, *unrecorded;
    const uint32_t *generation;
    void *apply; /* patches what is wanted by now; 0: everything is patched for good */
    void *clock_gettime, *pthread_setspecific;
    uint64_t stride;
    uint32_t functions, slot_count, ring, text_count, object_count, key, has_key;
} __attribute__((aligned(64)));

extern struct runtime tare_runtime;

/* XRay: which function each of its ids is. */
struct sleds {
    const uint32_t *places; /* by id, the function, or NONE */
    uint64_t count;
};
#define NONE UINT32_MAX

extern struct sleds tare_sleds;
