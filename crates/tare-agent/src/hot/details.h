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

typedef uint64_t loose __attribute__((aligned(1), may_alias));

enum { TEXT_WORDS = sizeof((struct text *)0)->text / 8 };

/* A C string of this process in whole words, filled up with NULs, as tare_rings::record::text_hash takes it; its length.
   Survives a pointer that is none, but if it is `sure`, which saves a system call for each page. No load reaches into a page
   that the string does not. */
static inline uint32_t read_text(uint64_t from, uint64_t *words, int sure) {
    const uint64_t ones = 0x0101010101010101u;
    for (uint32_t place = 0; place < TEXT_WORDS; place++, from += 8) {
        uint64_t word = 0;
        if (likely((from & 4095) <= 4088)) {
            if (!sure && (place == 0 || (from & 4095) == 0) && !readable(from)) return place * 8;
            word = *(volatile const loose *)from;
        } else {
            for (uint32_t byte = 0; byte < 8; byte++) {
                if (!sure && ((place | byte) == 0 || ((from + byte) & 4095) == 0) && !readable(from + byte)) break;
                uint64_t character = *(volatile const uint8_t *)(from + byte);
                if (!character) break;
                word |= character << 8 * byte;
            }
        }
        uint64_t end = (word - ones) & ~word & ones << 7; /* its lowest bit is the first NUL's highest */
        if (end) {
            uint32_t bits = (uint32_t)__builtin_ctzll(end) - 7;
            words[place] = word & (((uint64_t)1 << bits) - 1);
            return place * 8 + bits / 8;
        }
        words[place] = word;
    }
    return TEXT_WORDS * 8;
}

/* tare_rings::record::text_hash. */
static inline uint32_t hash_text(const uint64_t *words, uint32_t length) {
    const uint64_t spread = 0x9e3779b97f4a7c15u;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t place = 0; place * 8 < length; place++) {
        hash = (hash ^ words[place]) * spread;
        hash ^= hash >> 32;
    }
    uint32_t folded = (uint32_t)(hash * spread >> 36);
    return folded ? folded : 1;
}

/* 0: there is no room. */
static __attribute__((noinline)) int keep_text(uint32_t hash, const char *text, uint32_t length) {
    for (uint32_t try = 0; try < 64; try++) {
        struct text *place = &tare_runtime.texts[(hash + try) % tare_runtime.text_count];
        uint32_t there = __atomic_load_n(&place->hash, __ATOMIC_ACQUIRE);
        if (there == hash) return 1;
        if (there == 0 &&
            __atomic_compare_exchange_n(&place->hash, &there, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            for (uint32_t byte = 0; byte < length; byte++) place->text[byte] = text[byte];
            __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
            return 1;
        }
        if (there == hash) return 1;
    }
    return 0;
}

static inline uint32_t text(struct thread *thread, uint64_t pointer, int sure) {
    uint64_t words[TEXT_WORDS];
    if (!pointer) return 0;
    uint32_t length = read_text(pointer, words, sure), hash = hash_text(words, length);
    uint32_t *known = &thread->known[hash % KNOWN];
    if (unlikely(*known != hash) && keep_text(hash, (const char *)words, length)) *known = hash;
    return hash;
}

enum { MODE_CPU = 1 << 12 };

/* The detail of an entry that tells arguments. Of a state in the midst of work, `mode` loses the reading of CPU time: a
   transaction of many statements would pay for it (0.7 us) at both ends of each. Its text is one that the function reads. */
static __attribute__((noinline)) uint32_t words(struct thread *thread, uint32_t *mode, const uint64_t *saved) {
    uint32_t kind = *mode & 3, word = (uint32_t)argument(saved, *mode >> 4);
    if (kind == 1) return word;
    word &= 15;
    if (kind == 3) {
        uint32_t through = word == (*mode >> 16 & 15);
        if (thread->view.working && !through) *mode &= ~(uint32_t)MODE_CPU;
        thread->view.working = !through;
    }
    return word | text(thread, argument(saved, *mode >> 8), kind == 3) << 4;
}
