/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Records and maps of os.bpf.c. */
#ifndef TARE_OS_MAPS_H
#define TARE_OS_MAPS_H

#include "os_kernel.h"

#define RING_BYTES (16 << 20)
#define MAX_PROCESSES 16384
#define MAX_NODES 64
#define MAX_SUMS 32768
#define MAX_OPEN 16384
#define TITLE 96
#define NO_CALL 0xffff
#define PAGE 4096

/* Bits of the only entry of `options`. */
enum { BY_NAMESPACE = 1, MESSAGES = 2, CALLS = 4 };

/* Order of Histogram in os.rs. */
enum { READ_BYTES, READ_GAP, BLOCK_READ_BYTES, BLOCK_WRITE_BYTES, BLOCK_LATENCY, SEND_BYTES, SEND_GAP, HISTOGRAMS };
#define SLOTS 40

struct thread {
	__u64 mark; /* its time is accounted up to here */
	__u64 user; /* on a CPU outside calls, not yet added */
	__u32 state, node;
	__u32 call;
	__u32 waited; /* for block I/O since the last buffered read */
	__u64 buffer, count;
	__u64 mapping, read_first, read_last;
	__u64 added_first, added_end; /* pages brought into the cache since the last buffered read */
	__u64 read_at, sent_at;
};

struct key {
	__u32 node, tgid;
	__u32 call, pad;
};

struct call_sum {
	__u64 count, errors, bytes;
	__u64 spent[STATES];
};

struct process_sum {
	__u64 faults_user, faults_kernel;
	__u64 reads_ready, reads_in_flight, reads_missed;
	__u64 pages_requested, pages_in_flight, pages_missed, pages_added, pages_mapped, pages_written;
	__u64 block_reads, block_read_bytes, block_read_sequential, block_writes, block_write_bytes;
	__u64 block_latency;
	__u64 sends, sent_bytes, receives, received_bytes;
	__u64 local_sends, local_sent_bytes, local_receives, local_received_bytes;
};

struct process {
	__u32 node, pad;
	__u64 next_sector; /* where its last block request ended */
	char name[16];
	char title[TITLE]; /* its command line when it ended; parts end with a zero byte */
};

struct histogram {
	__u64 slots[SLOTS];
};

struct activity {
	__u64 mark;
	__u64 io;   /* a block request of the node was open */
	__u64 busy; /* and CPUs that its threads used meanwhile, CPU-ns */
	__s64 open, running;
};

struct open_request {
	__u64 at;
	__u32 node, tgid;
};

struct message {
	__u64 time, hash;
	__u64 head;
	__u32 node, tgid;
	__u32 bytes, hashed;
	__u32 source, destination;
	__u16 source_port, destination_port;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_NODES);
	__type(key, __u32);
	__type(value, __u32);
} namespaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, MAX_SUMS);
	__type(key, struct key);
	__type(value, struct call_sum);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, struct key);
	__type(value, struct process_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, MAX_SUMS);
	__type(key, struct key); /* `call` is the histogram's number */
	__type(value, struct histogram);
} histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_NODES);
	__type(key, __u32);
	__type(value, struct activity);
} activities SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_OPEN);
	__type(key, __u64);
	__type(value, struct open_request);
} open_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} options SEC(".maps");

static __always_inline bool wants(__u32 option)
{
	__u32 zero = 0, *chosen = bpf_map_lookup_elem(&options, &zero);

	return chosen && *chosen & option;
}

/* Until when `settle` accounts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} moment SEC(".maps");

/* Order of Lost in os.rs: what found no room. */
enum { LOST_MESSAGE, LOST_SUM, LOST_THREAD, LOST_REQUEST, LOST_KINDS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOST_KINDS);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline void lose(__u32 kind)
{
	__u64 *value = bpf_map_lookup_elem(&lost, &kind);

	if (value)
		__sync_fetch_and_add(value, 1);
}

#endif
