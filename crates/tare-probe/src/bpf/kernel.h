/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The few kernel types and fields that are read. Offsets are found at load time (CO-RE), so only names matter. */
#ifndef TARE_KERNEL_H
#define TARE_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define NULL ((void *)0)

/* Values of the kernel's published interface. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29
};
enum { BPF_NOEXIST = 1, BPF_F_NO_PREALLOC = 1, BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	__u32 cpu;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
};

struct rq {
	__u64 prev_steal_time_rq;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime; /* when it was last given a CPU */
	unsigned char sched_delayed;
};

struct task_delay_info {
	__u64 blkio_delay;
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes;
};

struct taskstats {
	__u64 cpu_count, cpu_delay_total, blkio_delay_total;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	int nr_threads;
	__u64 utime, stime, gtime, cgtime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct task_io_accounting ioac;
	unsigned long long sum_sched_runtime;
	struct taskstats *stats;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_code;
	unsigned int in_iowait : 1;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	__u64 utime, stime, gtime;
	unsigned long nvcsw, nivcsw;
	__u64 start_boottime;
	unsigned long min_flt, maj_flt;
	const struct cred *real_cred;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct task_delay_info *delays;
};

/* Where the CPU's number was before Linux 5.16 on some architectures. */
struct task_struct___cpu {
	unsigned int cpu;
};

static __always_inline __u32 cpu_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	if (bpf_core_field_exists(((struct task_struct___cpu *)task)->cpu))
		return ((struct task_struct___cpu *)task)->cpu;
	return -1;
}

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
