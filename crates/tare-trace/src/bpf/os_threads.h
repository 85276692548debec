/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Threads of nodes, the sums that their time goes to, and counts of their processes. */
#ifndef TARE_OS_THREADS_H
#define TARE_OS_THREADS_H

#include "os_maps.h"

/* Value of a key, which is `none` where the key is new. NULL and a loss where there is no room. */
static __always_inline void *entry(void *map, const void *key, const void *none)
{
	void *value = bpf_map_lookup_elem(map, key);

	if (!value) {
		bpf_map_update_elem(map, key, none, BPF_NOEXIST);
		value = bpf_map_lookup_elem(map, key);
		if (!value)
			lose(LOST_SUM);
	}
	return value;
}

static const struct call_sum no_calls;
static const struct process_sum no_counts;
static const struct histogram no_values;
static const struct activity no_activity;

static __always_inline struct call_sum *call_sum(__u32 node, __u32 tgid, __u32 call)
{
	struct key key = {node, tgid, call, 0};

	return entry(&calls, &key, &no_calls);
}

static __always_inline struct process_sum *process_sum(__u32 node, __u32 tgid)
{
	struct key key = {node, tgid, 0, 0};

	return entry(&sums, &key, &no_counts);
}

static __always_inline struct activity *activity_of(__u32 node)
{
	return entry(&activities, &node, &no_activity);
}

static __noinline int count_in(__u32 node, __u32 tgid, __u32 kind, __u64 value)
{
	struct key key = {node, tgid, kind, 0};
	struct histogram *h = entry(&histograms, &key, &no_values);
	__u32 slot = 0;

	if (!h)
		return 0;
	/* The slot is the number of bits of the value. */
	if (value >> 32) {
		slot += 32;
		value >>= 32;
	}
	if (value >> 16) {
		slot += 16;
		value >>= 16;
	}
	if (value >> 8) {
		slot += 8;
		value >>= 8;
	}
	if (value >> 4) {
		slot += 4;
		value >>= 4;
	}
	if (value >> 2) {
		slot += 2;
		value >>= 2;
	}
	slot += value > 1 ? 2 : value;
	if (slot >= SLOTS)
		slot = SLOTS - 1;
	h->slots[slot]++;
	return 0;
}

/* Node that a task belongs to, 0 for none. */
static __always_inline __u32 node_of(struct task_struct *task)
{
	__u32 tgid = task->tgid, number, *node;
	struct process *process = bpf_map_lookup_elem(&processes, &tgid);
	struct nsproxy *proxy;

	if (process)
		return process->node;
	if (!wants(BY_NAMESPACE))
		return 0;
	proxy = task->nsproxy;
	if (!proxy)
		return 0;
	number = proxy->net_ns->ns.inum;
	node = bpf_map_lookup_elem(&namespaces, &number);
	return node ? *node : 0;
}

static __always_inline void enlist(struct task_struct *task, __u32 node)
{
	__u32 tgid = task->tgid;
	struct process new = {};

	if (bpf_map_lookup_elem(&processes, &tgid))
		return;
	new.node = node;
	bpf_probe_read_kernel_str(new.name, sizeof(new.name), task->comm);
	bpf_map_update_elem(&processes, &tgid, &new, BPF_NOEXIST);
}

static __always_inline struct thread *begin(struct task_struct *task, __u32 node, __u32 state, __u32 call)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t) {
		lose(LOST_THREAD);
		return NULL;
	}
	if (t->node)
		return t;
	enlist(task, node);
	t->mark = bpf_ktime_get_ns();
	t->state = state;
	t->call = call;
	t->node = node;
	return t;
}

/* The thread of a task; NULL where it is not traced. */
static __always_inline struct thread *traced(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);

	return t && t->node ? t : NULL;
}

/* Before `open` or `running` changes. */
static __always_inline void account(struct activity *a, __u64 now)
{
	__u64 before = __sync_lock_test_and_set(&a->mark, now);

	if (a->open > 0 && before && now > before) {
		__sync_fetch_and_add(&a->io, now - before);
		if (a->running > 0)
			__sync_fetch_and_add(&a->busy, (now - before) * a->running);
	}
}

static __always_inline void run(__u32 node, __s64 change, __u64 now)
{
	struct activity *a = activity_of(node);

	if (!a)
		return;
	if (a->open > 0)
		account(a, now);
	__sync_fetch_and_add(&a->running, change);
}

/* Takes the slice since the mark. */
static __always_inline __u64 slice(struct thread *t, __u64 now)
{
	return now - __sync_lock_test_and_set(&t->mark, now);
}

static __always_inline void spend(struct thread *t, __u32 tgid, __u64 ns)
{
	__u32 state = t->state;
	struct call_sum *sum;

	if (state == ON_CPU && t->call == NO_CALL) {
		__sync_fetch_and_add(&t->user, ns);
		return;
	}
	sum = call_sum(t->node, tgid, t->call);
	if (sum && state < STATES)
		__sync_fetch_and_add(&sum->spent[state], ns);
}

static __always_inline void flush_user(struct thread *t, __u32 tgid)
{
	__u64 ns = __sync_lock_test_and_set(&t->user, 0);
	struct call_sum *sum;

	if (!ns)
		return;
	sum = call_sum(t->node, tgid, NO_CALL);
	if (sum)
		__sync_fetch_and_add(&sum->spent[ON_CPU], ns);
}

/* From now on the thread is in this state. */
static __always_inline void enter(struct thread *t, __u32 tgid, __u32 state)
{
	__u64 now = bpf_ktime_get_ns();

	spend(t, tgid, slice(t, now));
	if (t->state == ON_CPU && state != ON_CPU) {
		flush_user(t, tgid);
		run(t->node, -1, now);
	} else if (t->state != ON_CPU && state == ON_CPU) {
		run(t->node, 1, now);
	}
	t->state = state;
}

#endif
