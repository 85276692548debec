// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Every task's counters in one pass: an iterator that is read like a file. */
#include "record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Dead threads' totals are kept in the process; taskstats keeps those that the process has no room for. */
static __always_inline void fill_dead(struct record *r, struct signal_struct *signal)
{
	r->has |= DEAD;
	r->utime = signal->utime;
	r->stime = signal->stime;
	r->gtime = signal->gtime;
	r->run = signal->sum_sched_runtime;
	r->run_delay = 0;
	r->slices = 0;
	r->block_io = 0;
	if (bpf_core_field_exists(signal->stats)) {
		struct taskstats *stats = signal->stats;

		if (stats) {
			r->run_delay = stats->cpu_delay_total;
			r->slices = stats->cpu_count;
			r->block_io = stats->blkio_delay_total;
		}
	}
	r->min_faults = signal->min_flt;
	r->maj_faults = signal->maj_flt;
	r->voluntary = signal->nvcsw;
	r->involuntary = signal->nivcsw;
	if (bpf_core_field_exists(signal->ioac.read_bytes))
		copy_io(r, &signal->ioac);
}

SEC("iter/task")
int tasks(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct record r;

	if (!task)
		return 0;
	fill(&r, task);
	bpf_seq_write(seq, &r, sizeof(r));
	if (r.pid == r.tgid && task->signal->sum_sched_runtime) {
		fill_dead(&r, task->signal);
		bpf_seq_write(seq, &r, sizeof(r));
	}
	return 0;
}
