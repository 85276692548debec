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

/* tare_rings::record::text_hash of a C string of this process. `words`: the string in whole words, filled up with NULs; `length`:
   its own. Survives a pointer that is none, but if it is `sure`, which saves a system call for each page. No load reaches into a
   page that the string does not. */
static inline uint32_t read_text(uint64_t from, uint64_t *words, uint32_t *length, int sure) {
    const uint64_t spread = 0x9e3779b97f4a7c15u, ones = 0x0101010101010101u;
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t place = 0, more = 0;
    for (; place < TEXT_WORDS; place++, from += 8) {
        uint64_t word = 0;
        if (likely((from & 4095) <= 4088)) {
            if (!sure && (place == 0 || (from & 4095) == 0) && !readable(from)) break;
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
        if (unlikely(end)) {
            uint32_t bits = (uint32_t)__builtin_ctzll(end) - 7;
            if (!bits) break;
            more = bits / 8;
            word &= ((uint64_t)1 << bits) - 1;
        }
        words[place] = word;
        hash = (hash ^ word) * spread;
        hash ^= hash >> 32;
        if (unlikely(more)) break;
    }
    *length = place * 8 + more;
    uint32_t folded = (uint32_t)(hash * spread >> 36);
    return folded ? folded : 1;
}

/* 0: there is no room until the profiler has looked. */
static __attribute__((noinline)) int keep_text(uint32_t hash, const char *text, uint32_t length) {
    uint32_t at = hash;
    for (uint32_t try = 0; try < 32; try++, at += hash >> 14 | 1) {
        struct text *place = &tare_runtime.texts[at % tare_runtime.text_count];
        uint32_t there = __atomic_load_n(&place->hash, __ATOMIC_ACQUIRE);
        if (there == hash) return 1;
        if (there == 0 &&
            __atomic_compare_exchange_n(&place->hash, &there, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            for (uint32_t byte = 0; byte < length; byte++) place->text[byte] = text[byte];
            if (length < sizeof place->text) place->text[length] = 0; /* there may have been a longer one */
            __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
            __atomic_fetch_add(tare_runtime.kept, 1, __ATOMIC_RELEASE);
            return 1;
        }
        if (there == hash) return 1;
    }
    return 0;
}

/* A profiler that comes later has heard no text yet; the first thing it does is to change switches or marks. */
static __attribute__((noinline)) void forget(struct thread *thread, uint32_t generation) {
    for (uint32_t place = 0; place < KNOWN * 4; place++) thread->known[place / 4][place % 4] = 0;
    thread->view.known_at = generation;
}

static inline uint32_t text(struct thread *thread, uint64_t pointer, int sure) {
    uint64_t words[TEXT_WORDS];
    if (!pointer) return 0;
    uint32_t generation = __atomic_load_n(tare_runtime.generation, __ATOMIC_RELAXED);
    if (unlikely(thread->view.known_at != generation)) forget(thread, generation);
    uint32_t length, hash = read_text(pointer, words, &length, sure);
    uint32_t *known = thread->known[hash % KNOWN];
    if (unlikely(known[0] != hash && known[1] != hash && known[2] != hash && known[3] != hash) &&
        keep_text(hash, (const char *)words, length)) {
        known[3] = known[2];
        known[2] = known[1];
        known[1] = known[0];
        known[0] = hash;
    }
    return hash;
}


/* Whether a state is the one told last with the same text, as a server says it that binds a statement and then executes it.
   Where another text has come to the same place, it begins otherwise. */
static inline int again(struct view *view, uint32_t word, uint64_t text) {
    uint64_t begins = text && (text & 4095) <= 4088 ? *(volatile const loose *)text : 0;
    if (text && text == view->said && begins == view->begins && word == view->word) return 1;
    view->said = text;
    view->begins = begins;
    view->word = word;
    return 0;
}

/* The detail of an entry that tells arguments. 0: there is nothing new in it, and it is not told. Of a state in the midst of
   work, `mode` loses the reading of CPU time: a transaction of many statements would pay for it (0.7 us) at both ends of
   each. Its text is one that the function reads. */
static __attribute__((noinline)) int words(struct thread *thread, uint32_t *mode, const uint64_t *saved, uint32_t *detail) {
    uint32_t kind = *mode & 3, word = (uint32_t)argument(saved, *mode >> 4);
    *detail = word;
    if (kind == 1) return 1;
    word &= 15;
    uint64_t pointer = argument(saved, *mode >> 8);
    if (kind == 3) {
        uint32_t through = word == (*mode >> 16 & 15);
        if (*mode & MODE_ENTRY_ONLY && again(&thread->view, word, pointer)) return 0;
        if (thread->view.working && !through) *mode &= ~(uint32_t)MODE_CPU;
        thread->view.working = !through;
    }
    *detail = word | text(thread, pointer, kind == 3) << 4;
    return 1;
}
