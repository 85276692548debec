/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Writes events into the rings, texts among the messages, and counts what finds no room. */
#ifndef TARE_ATTACH_RECORDS_H
#define TARE_ATTACH_RECORDS_H

#include "attach_maps.h"

#define TEXT_SEED 0xcbf29ce484222325ULL
#define TEXT_SPREAD 0x9e3779b97f4a7c15ULL
/* Another thread may come between on this CPU, and take the slot. */
#define CLAIMS 8

enum { false, true };

static __always_inline void tally(__u32 which, __u64 count)
{
	__u64 *value = bpf_map_lookup_elem(&tallies, &which);

	if (value)
		__sync_fetch_and_add(value, count);
}

static __always_inline __u8 *mark_of(__u32 tgid)
{
	__u32 line = tgid / LINE;
	__u8 *bytes = bpf_map_lookup_elem(&watched, &line);

	return bytes ? &bytes[tgid % LINE] : NULL;
}

static __always_inline bool is_watched(__u32 tgid)
{
	__u8 *mark = mark_of(tgid);

	return mark && *mark;
}

static __always_inline bool ours(void)
{
	return is_watched(bpf_get_current_task_btf()->tgid);
}

static __always_inline void lose(__u32 tgid, __u32 tid, __u32 count)
{
	struct loss *loss = bpf_map_lookup_elem(&losses, &tid), first = { .tgid = tgid, .count = count };

	if (loss) {
		loss->count = loss->count + count < count ? ~0U : loss->count + count;
	} else if (bpf_map_update_elem(&losses, &tid, &first, 0)) {
		tally(UNTOLD, count);
	} else {
		__sync_fetch_and_add(&losers, 1);
	}
}

/* A thread's entry is touched by itself only. */
static __always_inline __u32 lost_before(__u32 tid)
{
	struct loss *loss;
	__u32 count;

	if (!losers)
		return 0;
	loss = bpf_map_lookup_elem(&losses, &tid);
	if (!loss)
		return 0;
	count = loss->count;
	bpf_map_delete_elem(&losses, &tid);
	__sync_fetch_and_add(&losers, -1);
	return count;
}

/*
 * The scheduler books a running task's time at ticks and switches only: what it ran since it was given this CPU is
 * added to what it had run before. The time of interrupts and of other virtual machines in this stretch is not told
 * apart. It may be switched away meanwhile; then once more. Without a switch seen, the booked time stands.
 */
static __always_inline __u64 cpu_time(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 booked = 0, before, now, since;
	__u32 zero = 0;
	volatile __u64 *at = bpf_map_lookup_elem(&switched, &zero);

	for (int tries = 0; at && tries < 3; tries++) {
		since = *at;
		booked = *(volatile __u64 *)&task->se.sum_exec_runtime;
		before = *(volatile __u64 *)&task->se.prev_sum_exec_runtime;
		now = bpf_ktime_get_ns();
		if (*at != since)
			continue;
		if (!since || now < since || before + (now - since) < booked)
			return booked;
		return before + (now - since);
	}
	return booked;
}

/* The next slot of this CPU's ring; NULL where there is none. */
static __always_inline struct event *claim(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct end *end = bpf_map_lookup_elem(&ends, &cpu);
	__u64 claimed, size;

	if (!end)
		return NULL;
	size = end->size;
	for (int tries = 0; tries < CLAIMS; tries++) {
		claimed = *(volatile __u64 *)&end->claimed;
		if (claimed - *(volatile __u64 *)&end->taken >= size)
			return NULL;
		if (__sync_val_compare_and_swap(&end->claimed, claimed, claimed + 1) != claimed)
			continue;
		at = cpu * size + (claimed & (size - 1));
		return bpf_map_lookup_elem(&slots, &at);
	}
	return NULL;
}

/* Where a thread is: on which stack, and how deep. */
struct place {
	__u64 sp, goroutine;
};

static __always_inline void record(__u64 time, __u32 word, __u64 value, struct place at, bool cpu)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event *e = claim();

	if (!e) {
		lose(task->tgid, task->pid, 1 + cpu);
		return;
	}
	e->time = time;
	e->value = value;
	e->cpu = cpu ? cpu_time() : 0;
	e->sp = at.sp;
	e->goroutine = at.goroutine;
	e->tgid = task->tgid;
	e->tid = task->pid;
	e->lost = lost_before(task->pid);
	/* Last, and x86-64 keeps the order of its writes: the profiler takes a slot that has a word. */
	barrier();
	*(volatile __u32 *)&e->word = word;
}

/* As in tare-rings; 0 for a text that is not there. A text goes ahead of the first record that has its hash. */
static __noinline __u32 text_hash(__u64 address)
{
	/* The kernel puts a NUL behind even the longest, and leaves what is behind a NUL as it was. */
	struct {
		struct text text;
		__u64 beyond;
	} read;
	const __u64 *words = (const __u64 *)read.text.bytes;
	__u64 hash = TEXT_SEED;
	__u32 short_hash, one = 1;

	__builtin_memset(&read, 0, sizeof(read));
	if (!address || bpf_probe_read_user_str(read.text.bytes, TEXT_BYTES + 1, (void *)address) < 0)
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TEXT_BYTES / 8 && words[i]; i++) {
		hash = (hash ^ words[i]) * TEXT_SPREAD;
		hash ^= hash >> 32;
	}
	short_hash = hash * TEXT_SPREAD >> 36;
	if (!short_hash)
		short_hash = 1;
	if (bpf_map_lookup_elem(&texts, &short_hash))
		return short_hash;
	read.text.hash = short_hash;
	/* One that found no room is handed over the next time. */
	if (!bpf_ringbuf_output(&messages, &read.text, sizeof(read.text), BPF_RB_NO_WAKEUP))
		bpf_map_update_elem(&texts, &short_hash, &one, 0);
	return short_hash;
}

#endif
