/* SPDX-License-Identifier: GPL-2.0-only */
/* Hot data streams of the references that a BPF program passes on. */
#ifndef HWPROF_BPF_STREAMS_H
#define HWPROF_BPF_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"

struct bpf_object;
struct bpf_streams;

/*
 * Opens the ring of a loaded object. Returns -1, or the exit status after it
 * has said what failed. *@streams is NULL if the object has no such ring.
 */
int bpf_streams_open(struct bpf_streams **streams, struct bpf_object *object);
void bpf_streams_close(struct bpf_streams *streams);

/* Takes what is in the ring. */
void bpf_streams_drain(struct bpf_streams *streams);

/* Finds the streams. Returns -1, or the exit status. */
int bpf_streams_find(struct bpf_streams *streams);

/* Print up to @limit streams; 0: all. */
void bpf_streams_print(const struct bpf_streams *streams, size_t limit,
		       FILE *out);
void bpf_streams_put(const struct bpf_streams *streams, size_t limit,
		     struct json *json);

#endif /* HWPROF_BPF_STREAMS_H */
