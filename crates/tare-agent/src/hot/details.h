/* What an entry tells beside its time: call site, arguments, texts. Part of hot.c. */
#pragma once
#include "thread.h"

static inline uint32_t site(uint64_t address) {
    const struct object *object = tare_runtime.objects;
    for (uint32_t place = 0; place < tare_runtime.object_count; place++, object++)
        if (address - object->begin < object->end - object->begin) return (uint32_t)(address - object->base);
    return 0; /* a stub's: a tail call, whose site is not known */
}

/* Argument 0 to 5 among the registers that tare_entry saved: rdi rsi rdx rcx r8 r9. */
static inline uint64_t argument(const uint64_t *saved, uint32_t number) {
    static const uint8_t place[8] = {4, 5, 6, 7, 3, 2, 4, 4};
    return saved[place[number & 7]];
}

/* Whether the page can be read: with a number that asks for nothing the kernel reads the mask, says so, and does no more.
   A sixth of what process_vm_readv costs. */
static int readable(uint64_t address) {
    return system_call(SYS_RT_SIGPROCMASK, -1, (long)(address & ~7ull), 0, 8, 0, 0) == -EINVAL;
}

/* Copies a C string of this process, and survives a pointer that is none. */
static uint32_t read_text(uint64_t from, char *text, uint32_t size) {
    uint32_t length = 0;
    for (; length < size; length++) {
        if ((length == 0 || ((from + length) & 4095) == 0) && !readable(from + length)) break;
        char byte = *(volatile const char *)(from + length);
        if (!byte) break;
        text[length] = byte;
    }
    return length;
}

/* tare_rings::record::text_hash, of a text that is filled up with NULs. */
static uint32_t hash_text(const uint64_t *words, uint32_t length) {
    const uint64_t spread = 0x9e3779b97f4a7c15u;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t place = 0; place * 8 < length; place++) {
        hash = (hash ^ words[place]) * spread;
        hash ^= hash >> 32;
    }
    uint32_t folded = (uint32_t)(hash * spread >> 36);
    return folded ? folded : 1;
}

static void keep_text(uint32_t hash, const char *text, uint32_t length) {
    for (uint32_t try = 0; try < 64; try++) {
        struct text *place = &tare_runtime.texts[(hash + try) % tare_runtime.text_count];
        uint32_t there = __atomic_load_n(&place->hash, __ATOMIC_ACQUIRE);
        if (there == hash) return;
        if (there == 0 &&
            __atomic_compare_exchange_n(&place->hash, &there, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            for (uint32_t byte = 0; byte < length; byte++) place->text[byte] = text[byte];
            __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
            return;
        }
        if (there == hash) return;
    }
}

static __attribute__((noinline)) uint32_t text(uint64_t pointer) {
    union {
        uint64_t words[15];
        char bytes[120];
    } copy = {{0}};
    if (!pointer) return 0;
    uint32_t length = read_text(pointer, copy.bytes, sizeof copy.bytes);
    uint32_t hash = hash_text(copy.words, length);
    keep_text(hash, copy.bytes, length);
    return hash;
}

enum { MODE_CPU = 1 << 12 };

/* The detail of an entry that tells arguments. Of a state in the midst of work, `mode` loses the reading of CPU time: a
   transaction of many statements would pay for it (0.7 us) at both ends of each. */
static __attribute__((noinline)) uint32_t words(struct thread *thread, uint32_t *mode, const uint64_t *saved) {
    uint32_t kind = *mode & 3, word = (uint32_t)argument(saved, *mode >> 4);
    if (kind == 1) return word;
    word &= 15;
    if (kind == 3) {
        uint32_t through = word == (*mode >> 16 & 15);
        if (thread->view.working && !through) *mode &= ~(uint32_t)MODE_CPU;
        thread->view.working = !through;
    }
    return word | text(argument(saved, *mode >> 8)) << 4;
}
