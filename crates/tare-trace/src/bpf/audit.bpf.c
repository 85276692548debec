// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Events for an audit: every switch of every CPU, wake-ups and births of the traced processes, every block request.
 * Nothing is judged here. What cannot be handed over is counted.
 */
#include "switching.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define RING_BYTES (32 << 20)
#define MAX_PROCESSES 4096

/* Order of enum Kind in event.rs. */
enum { SWITCH, WAKE, FORK, LOOK, SUBMIT, ISSUE, DONE, ARRIVE, MERGE };

/* In `detail` above its low byte, which is the state. */
enum { TRACED = 0x100, NEXT_TRACED = 0x200, KERNEL_THREAD = 0x400 };

#define PF_KTHREAD 0x00200000

struct event {
	__u64 time;
	__u64 value; /* switch: the scheduler's account of time stolen from this CPU; request: its address */
	__u32 kind;
	__u32 cpu; /* look: where the thread was last; else where it happens */
	__s32 pid, tgid;
	__s32 next_pid, next_tgid; /* switch: who comes; fork: the parent */
	__u32 count;               /* switch: slices of who comes, without this one; look, arrival: slices; request: bytes */
	__u32 detail;              /* state after it and flags; request: operation and flags */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

/* Who came to this CPU last, by the last switch. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} came SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct request {
	__u32 cmd_flags;
	unsigned int __data_len;
};

#pragma clang attribute pop

static __always_inline void drop(void)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(&dropped, &zero);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static __always_inline struct event *event(__u32 kind)
{
	__u64 now = bpf_ktime_get_ns();
	struct event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (!e) {
		drop();
		return NULL;
	}
	e->time = now;
	e->value = 0;
	e->kind = kind;
	e->cpu = bpf_get_smp_processor_id();
	e->next_pid = e->next_tgid = 0;
	e->count = 0;
	return e;
}

/* The reader looks when it is asked to, and before the ring is full. */
static __always_inline void hand_over(struct event *e)
{
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4)
		bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	else
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

static __always_inline bool traced(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid) != NULL;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	struct event *e = event(SWITCH);
	__u32 zero = 0, *last = bpf_map_lookup_elem(&came, &zero);

	if (last)
		*last = next->pid;
	if (!e)
		return 0;
	e->value = stolen(next);
	e->pid = prev->pid;
	e->tgid = prev->tgid;
	e->next_pid = next->pid;
	e->next_tgid = next->tgid;
	e->count = next->sched_info.pcount;
	e->detail = after_leaving(prev, preempt, prev_state);
	if (traced(e->tgid))
		e->detail |= TRACED;
	if (traced(e->next_tgid))
		e->detail |= NEXT_TRACED;
	hand_over(e);
	return 0;
}

/*
 * A switch is traced by whoever leaves, and some kernels run no program for some threads. Since Linux 6.17 whoever
 * comes says so too; it matters only where the switch was not traced.
 */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_arrival, bool switched)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, *last = bpf_map_lookup_elem(&came, &zero);
	struct event *e;

	if (!switched || !last || *last == task->pid)
		return 0;
	*last = task->pid;
	e = event(ARRIVE);
	if (!e)
		return 0;
	e->value = stolen(task);
	e->pid = task->pid;
	e->tgid = task->tgid;
	e->count = task->sched_info.pcount;
	e->detail = ON_CPU | (traced(e->tgid) ? TRACED : 0);
	hand_over(e);
	return 0;
}

/* Whoever waited for I/O ends a CPU's iowait, traced or not. */
static __always_inline int woken(struct task_struct *task)
{
	bool ours = traced(task->tgid);
	struct event *e;

	if (!ours && !BPF_CORE_READ_BITFIELD(task, in_iowait))
		return 0;
	e = event(WAKE);
	if (!e)
		return 0;
	e->pid = task->pid;
	e->tgid = task->tgid;
	e->detail = RUN_QUEUE | (ours ? TRACED : 0);
	hand_over(e);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid, one = 1;
	struct event *e;

	if (!traced(parent->tgid))
		return 0;
	if (bpf_map_update_elem(&processes, &tgid, &one, 0)) {
		drop();
		return 0;
	}
	e = event(FORK);
	if (!e)
		return 0;
	e->pid = child->pid;
	e->tgid = tgid;
	e->next_pid = parent->pid;
	e->next_tgid = parent->tgid;
	e->count = child->sched_info.pcount;
	e->detail = SLEEP | TRACED;
	hand_over(e);
	return 0;
}

/* Only the submission is sure to run in the thread that asked: the issue may come from a worker of the kernel. */
static __always_inline int request(struct request *rq, __u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event *e;

	/* A flush: its beginning and its end are other requests'. */
	if (!rq->__data_len && (kind == SUBMIT || kind == ISSUE))
		return 0;
	e = event(kind);
	if (!e)
		return 0;
	e->value = (__u64)rq;
	e->pid = task->pid;
	e->tgid = task->tgid;
	e->count = rq->__data_len;
	e->detail = (rq->cmd_flags & 0xff) | (task->flags & PF_KTHREAD ? KERNEL_THREAD : 0) |
		    (traced(task->tgid) ? TRACED : 0);
	hand_over(e);
	return 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_submit, struct request *rq)
{
	return request(rq, SUBMIT);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *rq)
{
	return request(rq, ISSUE);
}

SEC("tp_btf/block_io_done")
int BPF_PROG(on_done, struct request *rq)
{
	return request(rq, DONE);
}

/* `rq` goes on as part of another one, and has no end of its own. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_merge, struct request *rq)
{
	return request(rq, MERGE);
}

/* For kernels without block_io_done (before 6.5): the last part of a request. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *rq, __u8 error, unsigned int bytes)
{
	return bytes < rq->__data_len ? 0 : request(rq, DONE);
}

/* Threads that make no event meanwhile, and the kernel's count of slices at both ends. */
SEC("iter/task")
int look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct event *e;
	__u32 state, slices;
	bool ours, iowait;

	if (!task)
		return 0;
	/* Before the state: if it comes to a CPU in between, the count is older than that event. */
	slices = task->sched_info.pcount;
	barrier();
	ours = traced(task->tgid);
	iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	if (!ours && !iowait)
		return 0;
	state = looked_at(task, iowait);
	e = event(LOOK);
	if (!e)
		return 0;
	e->cpu = cpu_of(task);
	e->pid = task->pid;
	e->tgid = task->tgid;
	e->count = slices;
	e->detail = state | (ours ? TRACED : 0);
	hand_over(e);
	return 0;
}
