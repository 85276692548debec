/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Reading a message from the arguments of the system call that sends it, and hashing it whole. */
#ifndef TARE_OS_MESSAGES_H
#define TARE_OS_MESSAGES_H

#include "os.h"

#define PIECE 256

/*
 * A message's bytes on their way through the hash. In a map and not on the stack: what a loop leaves there is an
 * unknown number to the verifier, which would follow each turn by itself otherwise.
 */
struct reading {
	__u64 piece[PIECE / 8];
	__u64 vectors, vector_count; /* struct iovec of the caller */
	__u64 at, left;              /* of the vector in progress */
	__u64 unread;                /* of the message */
	__u64 hash;
	__u64 failed;
	__u8 head[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reading);
} readings SEC(".maps");

struct vector {
	__u64 base, length;
};

static __always_inline struct reading *reading(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&readings, &zero);
}

static long read_piece(__u64 number, void *none)
{
	struct reading *r = reading();
	__u32 size = PIECE;
	__u64 hash;

	if (!r || !r->left)
		return 1;
	if (r->left < PIECE) {
		__builtin_memset(r->piece, 0, sizeof(r->piece));
		size = r->left & (PIECE - 1);
	}
	if (bpf_probe_read_user(r->piece, size, (void *)r->at)) {
		r->failed = 1;
		return 1;
	}
	hash = r->hash;
#pragma unroll
	for (int word = 0; word < PIECE / 8; word++) {
		hash = (hash ^ r->piece[word]) * 0x9E3779B97F4A7C15ULL;
		hash ^= hash >> 29;
	}
	r->hash = hash;
	r->at += size;
	r->left -= size;
	r->unread -= size;
	return 0;
}

/* 1 << 16 pieces: 16 MiB of one vector. */
static __always_inline void read_vector(struct reading *r, __u64 base, __u64 length)
{
	r->at = base;
	r->left = length < r->unread ? length : r->unread;
	bpf_loop(1 << 16, read_piece, NULL, 0);
	if (r->left)
		r->failed = 1;
}

static long next_vector(__u64 number, void *none)
{
	struct reading *r = reading();
	struct vector v;

	if (!r || number >= r->vector_count || !r->unread || r->failed)
		return 1;
	if (bpf_probe_read_user(&v, sizeof(v), (void *)(r->vectors + number * sizeof(v)))) {
		r->failed = 1;
		return 1;
	}
	if (!number)
		bpf_probe_read_user(r->head, sizeof(r->head), (void *)v.base);
	read_vector(r, v.base, v.length);
	return 0;
}

/* struct user_msghdr up to its vectors. */
struct header {
	__u64 name;
	__u32 name_length, padding;
	__u64 vectors, vector_count;
};

/* write, sendto; writev; sendmsg: other calls' payloads are not read. */
static __always_inline void read_message(struct reading *r, struct thread *t)
{
	struct header h;

	switch (t->call) {
	case 1:
	case 44:
		bpf_probe_read_user(r->head, sizeof(r->head), (void *)t->buffer);
		read_vector(r, t->buffer, r->unread);
		break;
	case 20:
		r->vectors = t->buffer;
		r->vector_count = t->length;
		bpf_loop(1024, next_vector, NULL, 0);
		break;
	case 46:
		if (bpf_probe_read_user(&h, sizeof(h), (void *)t->buffer)) {
			r->failed = 1;
			break;
		}
		r->vectors = h.vectors;
		r->vector_count = h.vector_count;
		bpf_loop(1024, next_vector, NULL, 0);
		break;
	default:
		r->failed = 1;
	}
}

#endif
