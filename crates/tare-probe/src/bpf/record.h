/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What one task's counters are handed over in; its twin is record.rs. */
#ifndef TARE_RECORD_H
#define TARE_RECORD_H

#include "kernel.h"

enum {
	HAS_DELAYS = 1,
	HAS_SCHED = 2,
	HAS_IO = 4,
	/* Not a task: the sums of its process's dead threads. */
	DEAD = 8,
};

struct record {
	__s32 pid, tgid, ppid;
	__u32 uid;
	__u64 start_boottime;
	__u32 flags;
	__s32 cpu;
	__u32 threads;
	__u32 has;
	__u64 utime, stime, gtime, child_gtime;
	__u64 run, run_delay, slices, block_io;
	__u64 min_faults, maj_faults, voluntary, involuntary;
	__u64 read_chars, write_chars, read_calls, write_calls, read_bytes, write_bytes;
	char comm[16];
};

static __always_inline void copy_io(struct record *r, struct task_io_accounting *io)
{
	r->read_chars = io->rchar;
	r->write_chars = io->wchar;
	r->read_calls = io->syscr;
	r->write_calls = io->syscw;
	r->read_bytes = io->read_bytes;
	r->write_bytes = io->write_bytes;
}

static __always_inline void fill(struct record *r, struct task_struct *task)
{
	struct signal_struct *signal = task->signal;

	r->pid = task->pid;
	r->tgid = task->tgid;
	r->ppid = task->real_parent->tgid;
	r->uid = task->real_cred->uid.val;
	r->start_boottime = task->start_boottime;
	r->flags = task->flags;
	r->threads = signal->nr_threads;
	r->has = 0;
	r->cpu = cpu_of(task);
	r->utime = task->utime;
	r->stime = task->stime;
	r->gtime = task->gtime;
	r->child_gtime = signal->cgtime;
	r->run = task->se.sum_exec_runtime;
	r->run_delay = 0;
	r->slices = 0;
	if (bpf_core_field_exists(task->sched_info.pcount)) {
		r->has |= HAS_SCHED;
		r->run_delay = task->sched_info.run_delay;
		r->slices = task->sched_info.pcount;
	}
	r->block_io = 0;
	if (bpf_core_field_exists(task->delays)) {
		struct task_delay_info *delays = task->delays;

		if (delays) {
			r->has |= HAS_DELAYS;
			r->block_io = delays->blkio_delay;
		}
	}
	r->min_faults = task->min_flt;
	r->maj_faults = task->maj_flt;
	r->voluntary = task->nvcsw;
	r->involuntary = task->nivcsw;
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		r->has |= HAS_IO;
		copy_io(r, &task->ioac);
	} else {
		r->read_chars = r->write_chars = r->read_calls = r->write_calls = 0;
		r->read_bytes = r->write_bytes = 0;
	}
	__builtin_memcpy(r->comm, task->comm, sizeof(r->comm));
}

#endif
