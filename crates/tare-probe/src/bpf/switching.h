/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What a thread does, as its switches and a look at it tell. */
#ifndef TARE_SWITCHING_H
#define TARE_SWITCHING_H

#include "kernel.h"

/* Order of enum State in timeline.rs; then what is none. */
enum { ON_CPU, RUN_QUEUE, SLEEP, BLOCK_IO, OTHER_WAIT, STATES, ENDED = STATES };

#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_DEAD 0x0080

static __always_inline __u32 waiting(unsigned int state, bool iowait)
{
	if (state & TASK_DEAD)
		return ENDED;
	if (state & TASK_INTERRUPTIBLE)
		return SLEEP;
	if (state & TASK_UNINTERRUPTIBLE)
		return iowait ? BLOCK_IO : OTHER_WAIT;
	return OTHER_WAIT;
}

/* What a thread that leaves its CPU does from now on. */
static __always_inline __u32 after_leaving(struct task_struct *task, bool preempt, unsigned int state)
{
	return preempt || !state ? RUN_QUEUE : waiting(state, BPF_CORE_READ_BITFIELD(task, in_iowait));
}

/* What a thread does that is looked at. */
static __always_inline __u32 looked_at(struct task_struct *task, bool iowait)
{
	if (task->on_cpu)
		return ON_CPU;
	if (task->on_rq && !(bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed))
		return RUN_QUEUE;
	return waiting(task->__state, iowait);
}

/*
 * The scheduler's account of what the hypervisor took from the task's CPU, ns; brought up to date before every
 * switch. 0 where the kernel keeps none.
 */
static __always_inline __u64 stolen(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(task->se.cfs_rq->rq) ||
	    !bpf_core_field_exists(task->se.cfs_rq->rq->prev_steal_time_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_steal_time_rq;
}

#endif
