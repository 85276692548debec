// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The last reading of every task that ends, through a ring buffer. */
#include "record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define RING_BYTES (16 << 20)
#define COMMAND_BYTES 256

struct exit_record {
	struct record task;
	__u64 ended_ns;
	__s32 exit_code;
	__u32 last_of_group;
	/* Length of the original argument area, 0 where no argument was read. */
	__u64 arguments;
	char command[COMMAND_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

enum { BIRTHS, LOST, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* When this CPU was last given to another task. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} switched SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *value = bpf_map_lookup_elem(&counts, &which);

	if (value)
		__sync_fetch_and_add(value, 1);
}

SEC("tp_btf/sched_switch")
int on_switch(void *ctx)
{
	__u32 zero = 0;
	__u64 *value = bpf_map_lookup_elem(&switched, &zero);

	if (value)
		*value = bpf_ktime_get_ns();
	return 0;
}

/*
 * The scheduler books a running task's time at ticks and switches only, and a short process ends before its
 * first: what it ran since it was given the CPU is added to what it had run before. The time of interrupts and
 * of other virtual machines in this last stretch is not told apart. Without a switch seen, the booked time stands.
 */
static __always_inline __u64 run_until(__u64 now, struct task_struct *task)
{
	__u64 booked = task->se.sum_exec_runtime, before = task->se.prev_sum_exec_runtime;
	__u32 zero = 0;
	__u64 *since = bpf_map_lookup_elem(&switched, &zero);

	if (!since || !*since || now < *since || before + (now - *since) < booked)
		return booked;
	return before + (now - *since);
}

SEC("tp_btf/sched_process_fork")
int on_fork(void *ctx)
{
	count(BIRTHS);
	return 0;
}

/* Runs in the task that ends. Since Linux 6.16 its memory is still there, and so is its command line. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct exit_record *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	struct mm_struct *mm;

	if (!e) {
		count(LOST);
		return 0;
	}
	fill(&e->task, task);
	e->ended_ns = bpf_ktime_get_ns();
	e->task.run = run_until(e->ended_ns, task);
	e->exit_code = task->exit_code;
	e->last_of_group = task->signal->live.counter == 0;
	e->arguments = 0;
	e->command[0] = 0;
	mm = task->mm;
	if (mm && e->last_of_group) {
		unsigned long start = mm->arg_start;

		/* A title may outgrow its arguments into the environment behind them. */
		if (!bpf_probe_read_user(e->command, sizeof(e->command), (void *)start))
			e->arguments = mm->arg_end - start;
		else if (bpf_probe_read_user_str(e->command, sizeof(e->command), (void *)start) > 0)
			e->arguments = sizeof(e->command);
	}
	/* The listener looks when it is asked to, and before the ring is full. */
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4)
		bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	else
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}
