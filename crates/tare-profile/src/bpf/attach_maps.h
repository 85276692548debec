/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Events, messages and counters that the profiler reads, and the maps they are in. */
#ifndef TARE_ATTACH_MAPS_H
#define TARE_ATTACH_MAPS_H

#include "kernel.h"

#define MESSAGE_BYTES (4 << 20)
/* Above the greatest number of a process that Linux gives (its PID_MAX_LIMIT). */
#define PROCESSES (4 << 20)
#define LINE 64
#define MAX_THREADS 16384
#define MAX_COUNTED 65536
#define MAX_TEXTS 16384
#define TEXT_BYTES 120

enum { BPF_MAP_TYPE_LRU_HASH = 9 };
enum { BPF_F_MMAPABLE = 1 << 10 };

/*
 * Kinds of records, as in tare-rings, and those that only events have; see event.rs. ENTER_FROM is an ENTER whose value
 * is a return address. Of an EXIT_AT or TAIL_AT the value is the address of the return address of the frame that ends.
 */
enum {
	ENTER = 1, EXIT = 2, BEGIN = 4, END = 7, LABEL = 8,
	SWITCH = 11, LANDING = 12, TAIL_AT = 13, ENTER_FROM = 14, EXIT_AT = 15
};
#define SUBJECT 0x0fffffffU
#define WORD(kind, subject) ((__u32)(kind) << 28 | ((__u32)(subject) & SUBJECT))

/* See event.rs. */
struct event {
	__u64 time;
	__u64 value;
	__u64 cpu; /* time that the thread had had, ns; 0: not asked for */
	__u64 sp;  /* address of the return address at an entry; of a goroutine's, its complement to the stack's upper end */
	__u64 goroutine;
	__u32 tgid, tid;
	__u32 word; /* 0: not written yet */
	__u32 lost; /* records of this thread that found no room just before */
};

/* Messages are told apart by their size; see message.rs. */
struct text {
	__u32 hash;
	__u32 unused;
	char bytes[TEXT_BYTES];
};

enum { FORKED, REPLACED, ENDED, THREAD_ENDED };

struct life {
	__u64 time;
	__u32 what;
	__u32 tgid, parent; /* of THREAD_ENDED: which thread */
	__u32 unused;
};

/*
 * Each CPU has a ring of slots for events. The profiler has both maps in its memory, says how many slots a ring has, a
 * power of two, and counts those that it took; here those are counted that were claimed. See slots.rs.
 */
struct end {
	__u64 claimed;
	__u64 unused[LINE / 8 - 1];
	__u64 taken, size;
	__u64 unused_too[LINE / 8 - 2];
};

/* How many entries these two have the profiler says. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct end);
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, MESSAGE_BYTES);
} messages SEC(".maps");

/* A byte for each number that a process may have: 1 where it is watched. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROCESSES / LINE);
	__type(key, __u32);
	__type(value, __u8[LINE]);
} watched SEC(".maps");

struct loss {
	__u32 tgid, count;
};

/* By thread: records that found no room since its last one that did. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);
	__type(value, struct loss);
} losses SEC(".maps");

/* How many entries `losses` has, so that it is not looked up while there are none. */
static volatile __u32 losers;

/* Lost records that are in no thread's stream. */
enum { UNTOLD, TALLIES };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TALLIES);
	__type(key, __u32);
	__type(value, __u64);
} tallies SEC(".maps");

/* Which probes are heeded; see batch.rs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} epoch SEC(".maps");

/* Entries by the number that a counting probe's cookie is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_COUNTED);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

/* Hashes of the texts that were handed over. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_TEXTS);
	__type(key, __u32);
	__type(value, __u32);
} texts SEC(".maps");

/* When this CPU was last given to another task. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} switched SEC(".maps");

#endif
