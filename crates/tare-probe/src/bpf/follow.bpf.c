// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* A scheduler trace of a few threads, summed up here so that no event has to leave the kernel. */
#include "switching.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_THREADS 1024

/* Until the first look or the first event. */
enum { UNKNOWN = ENDED + 1 };

/* Added to a state that comes from the first look: no event yet, and the look's own fields hold. */
#define LOOKED 8

/*
 * A writer raises `begun`, changes the rest, raises `done`. A reader that copies from front to back and finds
 * both equal has a whole one: `done` is read first and `begun` last.
 */
struct line {
	__u64 done;
	__u64 spent[STATES];
	__u64 since;
	__u64 followed;
	__u64 switch_ins;
	__u64 slices_before; /* the scheduler's own count when it was first followed */
	__u64 slices_end;    /* and when it ended */
	__u64 state;
	__u64 look_since;
	__u64 look_slices;
	__u64 stolen;      /* by the hypervisor, while on its CPU */
	__u64 steal_at;    /* the CPU's account of stolen time when it was given to the thread */
	__u64 interrupted; /* by interrupts served on its CPU meanwhile */
	__u64 begun;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_THREADS);
	__type(key, __u32);
	__type(value, struct line);
} lines SEC(".maps");

/* The caller holds the run queue's lock, so one thread's events come one after the other. */
static __always_inline void enter(struct line *l, __u64 state, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 before = l->state & ~LOOKED;

	l->begun++;
	barrier();
	if (l->state == UNKNOWN) {
		l->followed = now;
		l->slices_before = task->sched_info.pcount;
	} else {
		if (l->state & LOOKED) {
			l->followed = l->since = l->look_since;
			l->slices_before = l->look_slices;
		}
		/* The clock may have been read a little later for the first look, on another CPU. */
		if (before < STATES && now > l->since)
			l->spent[before] += now - l->since;
		if (now < l->since)
			now = l->since;
	}
	if (state == ON_CPU) {
		l->switch_ins++;
		l->steal_at = stolen(task);
	} else if (before == ON_CPU && l->steal_at) {
		l->stolen += stolen(task) - l->steal_at;
	}
	if (state == ENDED)
		l->slices_end = task->sched_info.pcount;
	l->since = now;
	l->state = state;
	barrier();
	l->done++;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u32 tid = prev->pid;
	struct line *l = bpf_map_lookup_elem(&lines, &tid);

	if (l)
		enter(l, after_leaving(prev, preempt, prev_state), prev);
	tid = next->pid;
	l = bpf_map_lookup_elem(&lines, &tid);
	if (l)
		enter(l, ON_CPU, next);
	return 0;
}

/*
 * A switch is traced by whoever leaves, and some kernels run no program for some threads. Since Linux 6.17 whoever
 * comes says so too; it changes something only where the switch was not traced. Preemption is off here.
 */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_arrival, bool switched)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct line *l = bpf_map_lookup_elem(&lines, &tid);
	__u64 state;

	if (!l || !switched)
		return 0;
	state = l->state & ~LOOKED;
	if (state < STATES && state != ON_CPU)
		enter(l, ON_CPU, task);
	return 0;
}

/* A wake-up before the switch-out finds the thread on its CPU: it never left, and there is nothing to note. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct line *l = bpf_map_lookup_elem(&lines, &tid);
	__u64 state;

	if (!l || task->on_cpu)
		return 0;
	state = l->state & ~LOOKED;
	if (state != ON_CPU && state != RUN_QUEUE)
		enter(l, RUN_QUEUE, task);
	return 0;
}

/*
 * Interrupts run on the back of whichever thread is on the CPU, and the scheduler books their time to it. Softirqs
 * that carry the thread's own packets (loopback) are its own work and are not counted. An event may be lost: each
 * beginning starts afresh, and an end without one is passed over.
 */
struct service {
	__u64 irq_since;
	__u64 softirq_since;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct service);
} services SEC(".maps");

enum { NET_TX_SOFTIRQ = 2, NET_RX_SOFTIRQ = 3 };

static __always_inline struct service *service(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&services, &key);
}

static __always_inline void served(__u64 spent)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct line *l = bpf_map_lookup_elem(&lines, &tid);

	if (l)
		l->interrupted += spent;
}

SEC("tp_btf/irq_handler_entry")
int on_irq(void *ctx)
{
	struct service *s = service();

	if (s)
		s->irq_since = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_end(void *ctx)
{
	struct service *s = service();
	__u64 spent;

	if (!s || !s->irq_since)
		return 0;
	spent = bpf_ktime_get_ns() - s->irq_since;
	s->irq_since = 0;
	if (s->softirq_since)
		s->softirq_since += spent; /* it came in the midst of one: not twice */
	served(spent);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq, unsigned int vector)
{
	struct service *s = service();

	if (s)
		s->softirq_since = vector == NET_TX_SOFTIRQ || vector == NET_RX_SOFTIRQ ? 0 : bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end, unsigned int vector)
{
	struct service *s = service();

	if (!s || !s->softirq_since)
		return 0;
	served(bpf_ktime_get_ns() - s->softirq_since);
	s->softirq_since = 0;
	return 0;
}

/* The first look: threads that have made no event yet. Reading it runs it; it writes nothing out. */
SEC("iter/task")
int first_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct line *l;
	__u64 state;
	__u32 tid;

	if (!task)
		return 0;
	tid = task->pid;
	l = bpf_map_lookup_elem(&lines, &tid);
	if (!l || l->state != UNKNOWN)
		return 0;
	l->look_slices = task->sched_info.pcount;
	state = looked_at(task, BPF_CORE_READ_BITFIELD(task, in_iowait));
	l->look_since = bpf_ktime_get_ns();
	/* An event that came meanwhile knows better. */
	__sync_val_compare_and_swap(&l->state, UNKNOWN, state | LOOKED);
	return 0;
}
