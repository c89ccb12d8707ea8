// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "sequitur.h"
#include "streams.h"

enum {
	/* Symbols of Sequitur below this are references, others breaks. */
	REFERENCES_MAX	= 1 << 29,
	BREAK		= 0x80000000U,	/* in the sequence: a break */
};

struct streams {
	struct streams_limits limits;
	/* The sequence: numbers of references, or BREAK */
	uint32_t *sequence;
	size_t count, room;
	size_t kept;			/* references in it */
	uint64_t left_out;
	uint32_t breaks;		/* each is a symbol of its own */
	/* Different references, and their numbers + 1 by hash. */
	struct reference *all;
	size_t all_count, all_room;
	uint32_t *slots;
	size_t slot_count;
	struct sequitur *sequitur;
	struct stream *found;
	size_t found_count, found_room;
};

/* --- references ----------------------------------------------------------- */

static size_t slot_of(const struct streams *streams, struct reference wanted)
{
	size_t mask = streams->slot_count - 1;
	size_t slot = hash_mix(hash_mix(0, wanted.ip), wanted.address) & mask;

	for (; streams->slots[slot]; slot = (slot + 1) & mask) {
		const struct reference *reference =
			&streams->all[streams->slots[slot] - 1];

		if (reference->ip == wanted.ip &&
		    reference->address == wanted.address)
			break;
	}
	return slot;
}

static bool grow_slots(struct streams *streams)
{
	uint32_t *old = streams->slots;
	size_t i;

	if (streams->slot_count > 2 * (streams->all_count + 1))
		return true;
	streams->slots = calloc(2 * streams->slot_count, sizeof(*old));
	if (!streams->slots) {
		streams->slots = old;
		return false;
	}
	streams->slot_count *= 2;
	for (i = 0; i < streams->all_count; i++)
		streams->slots[slot_of(streams, streams->all[i])] = i + 1;
	free(old);
	return true;
}

/* Sets the number of a reference, which may be new. */
static bool number_of(struct streams *streams, struct reference reference,
		      uint32_t *number)
{
	struct reference *all;
	size_t slot;

	if (!grow_slots(streams))
		return false;
	slot = slot_of(streams, reference);
	if (!streams->slots[slot]) {
		all = array_grow(streams->all, &streams->all_room,
				 streams->all_count + 1, sizeof(*all));
		if (!all)
			return false;
		streams->all = all;
		all[streams->all_count++] = reference;
		streams->slots[slot] = streams->all_count;
	}
	*number = streams->slots[slot] - 1;
	return true;
}

static bool append(struct streams *streams, uint32_t symbol, uint32_t unique)
{
	uint32_t *sequence = array_grow(streams->sequence, &streams->room,
					streams->count + 1, sizeof(*sequence));

	if (!sequence)
		return false;
	streams->sequence = sequence;
	sequence[streams->count++] = symbol;
	return sequitur_append(streams->sequitur, unique);
}

struct streams *streams_new(const struct streams_limits *limits)
{
	struct streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return NULL;
	streams->limits = *limits;
	if (streams->limits.references > REFERENCES_MAX / 2)
		streams->limits.references = REFERENCES_MAX / 2;
	streams->slot_count = 1024;
	streams->slots = calloc(streams->slot_count, sizeof(*streams->slots));
	streams->sequitur = sequitur_new();
	if (streams->slots && streams->sequitur)
		return streams;
	streams_free(streams);
	return NULL;
}

void streams_free(struct streams *streams)
{
	if (!streams)
		return;
	sequitur_free(streams->sequitur);
	free(streams->sequence);
	free(streams->all);
	free(streams->slots);
	free(streams->found);
	free(streams);
}

bool streams_add(struct streams *streams, struct reference reference)
{
	uint32_t number;

	if (streams->kept == streams->limits.references) {
		streams->left_out++;
		return true;
	}
	streams->kept++;
	return number_of(streams, reference, &number) &&
	       append(streams, number, number);
}

bool streams_break(struct streams *streams)
{
	if (!streams->count ||
	    streams->sequence[streams->count - 1] == BREAK ||
	    streams->kept == streams->limits.references)
		return true;
	return append(streams, BREAK, REFERENCES_MAX + streams->breaks++);
}

/* --- candidates ----------------------------------------------------------- */

/* A rule of the grammar. */
struct candidate {
	uint64_t length;		/* references that it stands for */
	uint64_t uses, cold;		/* all, and those not in a hot stream */
	size_t first;			/* where it comes first */
	uint32_t waits;			/* rules that use it and are not done */
	bool breaks;			/* a break is in it */
};

struct search {
	struct streams *streams;
	struct candidate *candidates;
	uint32_t count;
	uint32_t *order;		/* rules, users first */
	uint32_t ordered;
};

static uint32_t rule_of(uint32_t symbol)
{
	return symbol & ~SEQUITUR_RULE;
}

static void count_waits(struct search *search)
{
	const struct sequitur *sequitur = search->streams->sequitur;
	uint32_t rule;

	for (rule = 0; rule < search->count; rule++) {
		uint32_t at = 0, symbol;

		if (!sequitur_rule_is_used(sequitur, rule))
			continue;
		while (sequitur_next(sequitur, rule, &at, &symbol))
			if (symbol & SEQUITUR_RULE)
				search->candidates[rule_of(symbol)].waits++;
	}
}

/* Puts rules in an order in which users come first. The start has no user. */
static void order_rules(struct search *search)
{
	const struct sequitur *sequitur = search->streams->sequitur;
	uint32_t done;

	search->order[search->ordered++] = 0;
	for (done = 0; done < search->ordered; done++) {
		uint32_t at = 0, symbol;

		while (sequitur_next(sequitur, search->order[done], &at,
				     &symbol))
			if (symbol & SEQUITUR_RULE &&
			    !--search->candidates[rule_of(symbol)].waits)
				search->order[search->ordered++] =
					rule_of(symbol);
	}
}

/* Computes lengths: those that a rule uses come before it. */
static void set_lengths(struct search *search)
{
	const struct sequitur *sequitur = search->streams->sequitur;
	uint32_t i;

	for (i = search->ordered; i--;) {
		struct candidate *candidate =
			&search->candidates[search->order[i]];
		uint32_t at = 0, symbol;

		while (sequitur_next(sequitur, search->order[i], &at,
				     &symbol)) {
			const struct candidate *part =
				&search->candidates[rule_of(symbol)];

			if (symbol & SEQUITUR_RULE) {
				candidate->length += part->length;
				candidate->breaks |= part->breaks;
			} else {
				candidate->length++;
				candidate->breaks |= symbol >= REFERENCES_MAX;
			}
		}
	}
}

/* Sets where each rule comes first: users come before what they use. */
static void set_places(struct search *search)
{
	const struct sequitur *sequitur = search->streams->sequitur;
	uint32_t i;

	for (i = 1; i < search->count; i++)
		search->candidates[i].first = SIZE_MAX;
	for (i = 0; i < search->ordered; i++) {
		size_t place = search->candidates[search->order[i]].first;
		uint32_t at = 0, symbol;

		while (sequitur_next(sequitur, search->order[i], &at,
				     &symbol)) {
			struct candidate *part =
				&search->candidates[rule_of(symbol)];

			if (!(symbol & SEQUITUR_RULE)) {
				place++;
				continue;
			}
			if (place < part->first)
				part->first = place;
			place += part->length;
		}
	}
}

static bool add_stream(struct streams *streams,
		       const struct candidate *candidate)
{
	struct stream *found = array_grow(streams->found, &streams->found_room,
					  streams->found_count + 1,
					  sizeof(*found));

	if (!found)
		return false;
	streams->found = found;
	found[streams->found_count++] = (struct stream){
		.first = candidate->first, .length = candidate->length,
	};
	return true;
}

static bool is_hot(const struct streams *streams,
		   const struct candidate *candidate)
{
	const struct streams_limits *limits = &streams->limits;

	return !candidate->breaks && candidate->length >= limits->shortest &&
	       candidate->length <= limits->longest &&
	       candidate->length * candidate->cold >=
		       limits->share * streams->kept;
}

/*
 * Finds the hot rules (Chilimbi, Hirzel, 2002). A use within a hot stream is
 * not cold, and does not make what is used there hot.
 */
static bool find_candidates(struct search *search)
{
	struct streams *streams = search->streams;
	uint32_t i;

	search->candidates[0].uses = search->candidates[0].cold = 1;
	for (i = 0; i < search->ordered; i++) {
		struct candidate *candidate =
			&search->candidates[search->order[i]];
		bool hot = search->order[i] && is_hot(streams, candidate);
		uint32_t at = 0, symbol;

		if (hot && !add_stream(streams, candidate))
			return false;
		while (sequitur_next(streams->sequitur, search->order[i], &at,
				     &symbol)) {
			struct candidate *part =
				&search->candidates[rule_of(symbol)];

			if (!(symbol & SEQUITUR_RULE))
				continue;
			part->uses += candidate->uses;
			part->cold += hot ? 0 : candidate->cold;
		}
	}
	return true;
}

/* --- exact counts --------------------------------------------------------- */

/* Streams by the reference that they begin with. */
struct beginnings {
	uint32_t *heads;		/* of lists; stream + 1, by reference */
	uint32_t *next;
	size_t *free_from;		/* where a stream may come next */
};

static bool comes_at(const struct streams *streams,
		     const struct stream *stream, size_t place)
{
	return streams->count - place >= stream->length &&
	       !memcmp(&streams->sequence[place],
		       &streams->sequence[stream->first],
		       stream->length * sizeof(*streams->sequence));
}

static void count_at(struct streams *streams, struct beginnings *beginnings,
		     size_t place)
{
	uint32_t stream = streams->sequence[place] == BREAK ? 0 :
			  beginnings->heads[streams->sequence[place]];

	for (; stream; stream = beginnings->next[stream - 1]) {
		struct stream *found = &streams->found[stream - 1];

		if (place < beginnings->free_from[stream - 1] ||
		    !comes_at(streams, found, place))
			continue;
		found->times++;
		found->heat += found->length;
		beginnings->free_from[stream - 1] = place + found->length;
	}
}

static void count_all(struct streams *streams, struct beginnings *beginnings)
{
	size_t i;

	for (i = 0; i < streams->found_count; i++) {
		uint32_t *head = &beginnings->heads[
			streams->sequence[streams->found[i].first]];

		beginnings->next[i] = *head;
		*head = i + 1;
	}
	for (i = 0; i < streams->count; i++)
		count_at(streams, beginnings, i);
}

static bool count_exactly(struct streams *streams)
{
	struct beginnings beginnings = {
		.heads = calloc(streams->all_count + 1, sizeof(uint32_t)),
		.next = calloc(streams->found_count + 1, sizeof(uint32_t)),
		.free_from = calloc(streams->found_count + 1, sizeof(size_t)),
	};
	bool fine = beginnings.heads && beginnings.next &&
		    beginnings.free_from;

	if (fine)
		count_all(streams, &beginnings);
	free(beginnings.heads);
	free(beginnings.next);
	free(beginnings.free_from);
	return fine;
}

static int compare(const void *a, const void *b)
{
	const struct stream *left = a, *right = b;

	if (left->heat != right->heat)
		return left->heat < right->heat ? 1 : -1;
	return left->first < right->first ? -1 : left->first > right->first;
}

bool streams_find(struct streams *streams)
{
	uint32_t rules = sequitur_rule_count(streams->sequitur);
	struct search search = {
		.streams = streams, .count = rules,
		.candidates = calloc(rules, sizeof(*search.candidates)),
		.order = calloc(rules, sizeof(*search.order)),
	};
	bool fine = search.candidates && search.order;

	if (fine) {
		count_waits(&search);
		order_rules(&search);
		set_lengths(&search);
		set_places(&search);
		fine = find_candidates(&search) && count_exactly(streams);
	}
	free(search.candidates);
	free(search.order);
	if (fine && streams->found_count)
		qsort(streams->found, streams->found_count,
		      sizeof(*streams->found), compare);
	return fine;
}

/* --- for others ----------------------------------------------------------- */

size_t streams_count(const struct streams *streams)
{
	return streams->found_count;
}

const struct stream *streams_get(const struct streams *streams, size_t index)
{
	return &streams->found[index];
}

struct reference streams_reference(const struct streams *streams, size_t index)
{
	return streams->all[streams->sequence[index]];
}

size_t streams_kept(const struct streams *streams)
{
	return streams->kept;
}

uint64_t streams_left_out(const struct streams *streams)
{
	return streams->left_out;
}

size_t streams_different(const struct streams *streams)
{
	return streams->all_count;
}
