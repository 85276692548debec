/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Counts of the observed threads, and the maps that they are in. */
#ifndef TARE_OS_H
#define TARE_OS_H

#include "switching.h"

#define MAX_PROCESSES 4096
#define MAX_CALLS 65536
#define MAX_REQUESTS 16384
#define PAGE_SHIFT 12
#define TITLE 96

/* Values of the kernel's published interface. */
enum { PERCPU_HASH = 5, TASK_STORAGE = 29, NO_PREALLOC = 1, CREATE = 1 };
enum { UNIX = 1, INET = 2, INET6 = 10 };
#define PF_KTHREAD 0x00200000

/* Place in `lost`. */
enum { LOST_THREADS, LOST_CALLS, LOST_DISK, LOST_MESSAGES, LOST_READS, LOST };

/* Place in `sockets`: with addresses, then those of Unix sockets. */
enum { SENDS, SENT, RECEIVES, RECEIVED, LOCAL };

/* The kernel's own counters of a thread. */
struct kept {
	__u64 run, run_delay, read_chars, write_chars, read_calls, write_calls, read_bytes, write_bytes;
	__u64 minor_faults, major_faults, voluntary, involuntary;
};

/*
 * Only one program at a time changes a thread's counts, since the thread runs it, or the scheduler does under the run
 * queue's lock. A reader on another CPU finds `begun` and `done` equal if it has a whole copy: see `look`.
 */
struct thread {
	__u64 done;
	__u64 spent[STATES];
	__u64 since; /* when it came to `state` */
	__u64 first; /* when it was first seen */
	__u64 system;
	__u64 io_on_cpu;
	__u64 io_clock; /* `busy_clock` when it came to its CPU */
	__u64 reads, requested, missed, in_flight, ahead, mapped;
	__u64 sockets[2 * LOCAL];
	__u32 state;
	__u32 node;
	/* The call in progress; `entered` is 0 outside of calls, and in one that began before the thread was seen. */
	__u64 entered;
	__u64 base[STATES];
	__u64 buffer, length;
	__u64 returned; /* calls that `calls` has */
	__u32 call;
	__u32 padding;
	/* The read in progress: its pages, and those that were brought in and are in no count yet: see `settle`. */
	__u64 read_call, mapping, first_page, last_page;
	__u64 added_mapping, added_from, added_to, added;
	__u64 beyond; /* of the same file, apart from these */
	__u64 waited; /* spent[BLOCK_IO] up to which waits are accounted for */
	struct kept before;
	__u64 begun;
};

struct {
	__uint(type, TASK_STORAGE);
	__uint(map_flags, NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Observed processes at the start, each with its node. Their children inherit it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

struct call_key {
	__u32 tid, call;
};

struct call {
	__u64 count, errors, result;
	__u64 spent[STATES];
};

struct {
	__uint(type, PERCPU_HASH);
	__uint(map_flags, NO_PREALLOC);
	__uint(max_entries, MAX_CALLS);
	__type(key, struct call_key);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOST);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

/* A thread as `look` and its end hand it over; its twin is raw.rs. */
struct record {
	__s32 tid, tgid;
	__u32 node, state;
	__u64 now, io_clock_now;
	__u64 ended;
	__u64 slice; /* ns on a CPU since it was last given one, as far as the scheduler has booked them */
	struct thread thread;
	struct kept kept;
	char comm[16];
	char title[TITLE];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ended SEC(".maps");

struct done_request {
	__u64 sector, submitted, issued, done;
	__u32 bytes, device;
	__s32 tid, node; /* node -1: a thread of the kernel */
	__u32 write, padding;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} done_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_REQUESTS);
	__type(key, __u64);
	__type(value, struct done_request);
} requests SEC(".maps");

struct message {
	__u64 at, hash;
	__u8 sender[16], receiver[16];
	__u8 head[8];
	__u32 bytes;
	__s32 tid;
	__u32 node;
	__u16 sender_port, receiver_port;
	__u32 family;
	__u32 is_whole; /* the hash is of all bytes */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} messages SEC(".maps");

/* Pages of a file that a buffered read got at once. */
struct read {
	__u64 at, inode, page;
	__u32 device, pages, missed, in_flight;
	__s32 tid;
	__u32 node;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} reads SEC(".maps");

/* How long requests of the observed have been outstanding. */
struct busy {
	__s64 outstanding;
	__u64 since, total;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct busy);
} busy SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device {
	__u32 bd_dev;
};

struct request {
	__u32 cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct block_device *part;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct address_space {
	struct inode *host;
};

struct folio {
	struct {
		unsigned long f;
	} flags;
	struct address_space *mapping;
	unsigned long index;
	unsigned int _nr_pages;
};

/* Before Linux 6.18, and before 6.16. */
struct folio___plain {
	unsigned long flags;
};
struct folio___older {
	unsigned int _folio_nr_pages;
};

enum pageflags { PG_head = 6 };

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

#pragma clang attribute pop

/* A thread's registers as it entered the kernel; x86-64's published layout. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

static __always_inline void lose(__u32 what)
{
	__u64 *value = bpf_map_lookup_elem(&lost, &what);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static __always_inline struct thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

static __always_inline struct thread *this_thread(void)
{
	return thread_of(bpf_get_current_task_btf());
}

/* ns for which a request of the observed has been outstanding. */
static __always_inline __u64 busy_clock(__u64 now)
{
	__u32 zero = 0;
	struct busy *b = bpf_map_lookup_elem(&busy, &zero);
	__u64 since;

	if (!b)
		return 0;
	since = b->since;
	return b->total + (b->outstanding > 0 && now > since ? now - since : 0);
}

static __always_inline void keep(struct kept *k, struct task_struct *task)
{
	__builtin_memset(k, 0, sizeof(*k));
	k->run = task->se.sum_exec_runtime;
	if (bpf_core_field_exists(task->sched_info.pcount))
		k->run_delay = task->sched_info.run_delay;
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		k->read_chars = task->ioac.rchar;
		k->write_chars = task->ioac.wchar;
		k->read_calls = task->ioac.syscr;
		k->write_calls = task->ioac.syscw;
		k->read_bytes = task->ioac.read_bytes;
		k->write_bytes = task->ioac.write_bytes;
	}
	k->minor_faults = task->min_flt;
	k->major_faults = task->maj_flt;
	k->voluntary = task->nvcsw;
	k->involuntary = task->nivcsw;
}

static __always_inline struct thread *see(struct task_struct *task, __u32 node, __u32 state)
{
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, CREATE);

	if (!t) {
		lose(LOST_THREADS);
		return NULL;
	}
	if (t->first)
		return t;
	keep(&t->before, task);
	t->node = node;
	t->state = state;
	t->since = bpf_ktime_get_ns();
	if (state == ON_CPU)
		t->io_clock = busy_clock(t->since);
	barrier();
	t->first = t->since;
	return t;
}

/*
 * Accounts for pages that were brought in and that no read requested: a fault's. A read or a fault in progress has
 * pages that are in no count yet, so that none is taken back later.
 */
static __always_inline void settle(struct thread *t)
{
	t->mapped += t->added + t->beyond;
	t->added = t->beyond = 0;
}

static __always_inline void enter(struct thread *t, __u32 state)
{
	__u64 now = bpf_ktime_get_ns();

	if (!t->first)
		return;
	t->begun++;
	barrier();
	if (now < t->since)
		now = t->since;
	if (t->state < STATES)
		t->spent[t->state] += now - t->since;
	if (state == ON_CPU)
		t->io_clock = busy_clock(now);
	else if (t->state == ON_CPU)
		t->io_on_cpu += busy_clock(now) - t->io_clock;
	t->since = now;
	t->state = state;
	barrier();
	t->done++;
}

#endif
