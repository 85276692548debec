/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Hash of a message's payload, which is read within the call that sends it. */
#ifndef TARE_OS_PAYLOAD_H
#define TARE_OS_PAYLOAD_H

#include "os_maps.h"

struct iovec {
	__u64 base, length;
};

struct message_header {
	__u64 name;
	__u32 name_length, pad;
	__u64 vectors, count;
};

#define PIECE 256

struct piece {
	__u64 words[PIECE / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct piece);
} pieces SEC(".maps");

/* Where a payload is read: the rest of a range, then the ranges of the vectors that follow. */
struct hashing {
	__u64 at, range; /* of the range being read: address and bytes left */
	__u64 vectors, count, number;
	__u64 left; /* of the message */
	__u64 hash, done, head;
};

/* Hashes up to PIECE bytes, or goes to the next vector. */
static long hash_piece(__u64 step, struct hashing *h)
{
	__u32 zero = 0, size;
	struct piece *piece = bpf_map_lookup_elem(&pieces, &zero);
	__u64 hash;

	if (!piece || !h->left)
		return 1;
	if (!h->range) {
		struct iovec vector = {};

		if (h->number >= h->count)
			return 1;
		if (bpf_probe_read_user(&vector, sizeof(vector), (void *)(h->vectors + h->number * sizeof(vector))))
			return 1;
		h->number++;
		h->at = vector.base;
		h->range = vector.length < h->left ? vector.length : h->left;
		return 0;
	}
	if (h->range >= PIECE) {
		size = PIECE;
		if (bpf_probe_read_user(piece, PIECE, (void *)h->at))
			return 1;
	} else {
		size = h->range & (PIECE - 1);
		__builtin_memset(piece, 0, PIECE);
		if (bpf_probe_read_user(piece, size, (void *)h->at))
			return 1;
	}
	if (!h->done)
		h->head = piece->words[0];
	hash = h->hash;
#pragma unroll
	for (int i = 0; i < PIECE / 8; i++) {
		hash = (hash ^ piece->words[i]) * 0x9E3779B97F4A7C15ULL;
		hash ^= hash >> 29;
	}
	h->hash = hash;
	h->at += size;
	h->range -= size;
	h->left -= size;
	h->done += size;
	return 0;
}

static __always_inline void hash_payload(struct thread *t, struct message *m)
{
	struct hashing h = {};

	h.hash = 0xcbf29ce484222325ULL;
	h.left = m->bytes;
	if (t->call == WRITE || t->call == SENDTO) {
		h.at = t->buffer;
		h.range = m->bytes;
	} else if (t->call == WRITEV) {
		h.vectors = t->buffer;
		h.count = t->count;
	} else if (t->call == SENDMSG) {
		struct message_header header = {};

		bpf_probe_read_user(&header, sizeof(header), (void *)t->buffer);
		h.vectors = header.vectors;
		h.count = header.count;
	}
	bpf_loop(1 << 17, hash_piece, &h, 0);
	m->hash = h.hash;
	m->hashed = h.done;
	m->head = h.head;
}

#endif
