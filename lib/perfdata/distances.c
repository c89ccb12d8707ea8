// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <linux/hwprof.h>
#include <stdlib.h>

#include "base/array.h"
#include "distances.h"

enum { VERSION = 1 };

/* A distance in the file. */
struct written {
	uint32_t session, number;
	uint64_t begin, period;
	uint32_t frequency, burst, budget_permille, filtered;
};

/* Returns the index of the first distance that is not before these numbers. */
static size_t find(const struct distances *distances, uint32_t session,
		   uint32_t number)
{
	size_t low = 0, high = distances->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct distance *at = &distances->all[middle];

		if (at->session < session ||
		    (at->session == session && at->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool distances_full(const struct distances *distances)
{
	return distances->count >= DISTANCES_MAX;
}

int distances_add(struct distances *distances, const struct distance *distance)
{
	size_t at = find(distances, distance->session, distance->number);
	struct distance *all;

	if (at < distances->count &&
	    distances->all[at].session == distance->session &&
	    distances->all[at].number == distance->number)
		return -EEXIST;
	if (distances_full(distances))
		return -ENOSPC;
	all = array_grow(distances->all, &distances->room,
			 distances->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	distances->all = all;
	memmove(&all[at + 1], &all[at],
		(distances->count++ - at) * sizeof(*all));
	all[at] = *distance;
	return 0;
}

struct distance *distances_of(const struct distances *distances,
			      uint32_t session, size_t *count)
{
	size_t first = find(distances, session, 0);
	size_t end = find(distances, session, UINT32_MAX);

	/* The largest number may be there itself. */
	end += end < distances->count && distances->all[end].session == session;
	*count = end - first;
	return *count ? &distances->all[first] : NULL;
}

void distances_date(struct distances *distances, uint32_t session,
		    uint32_t number, uint64_t time)
{
	size_t at = find(distances, session, number);
	struct distance *it = &distances->all[at];

	if (at < distances->count && it->session == session &&
	    it->number == number && time < it->begin)
		it->begin = time;
}

void distances_forget(struct distances *distances, uint32_t session)
{
	size_t count;
	struct distance *of = distances_of(distances, session, &count);
	size_t at = of ? of - distances->all : 0;

	if (count < 2)
		return;
	memmove(of, of + count - 1,
		(distances->count - at - count + 1) * sizeof(*of));
	distances->count -= count - 1;
	of->begin = 0;
}

void distances_free(struct distances *distances)
{
	free(distances->all);
	*distances = (struct distances){ .count = 0 };
}

/* --- the section ---------------------------------------------------------- */

size_t distances_put(const struct distances *distances, FILE *out)
{
	const uint32_t version = VERSION;
	size_t i;

	fwrite(&version, sizeof(version), 1, out);
	for (i = 0; i < distances->count; i++) {
		const struct distance *it = &distances->all[i];
		const struct written written = {
			.session = it->session, .number = it->number,
			.begin = it->begin, .period = it->period,
			.frequency = it->frequency, .burst = it->burst,
			.budget_permille = it->budget_permille,
			.filtered = it->filtered,
		};

		fwrite(&written, sizeof(written), 1, out);
	}
	return distances->count;
}

/* Returns true if a session can look so. */
static bool is_possible(const struct written *written)
{
	return written->period <= INT64_MAX && written->frequency <= 1 &&
	       written->filtered <= 1 &&
	       written->budget_permille <= HWPROF_BUDGET_PERMILLE_MAX;
}

/* Returns true if the distance is behind all others. */
static bool is_next(const struct distances *distances,
		    const struct distance *distance)
{
	return find(distances, distance->session, distance->number) ==
	       distances->count;
}

int distances_parse(struct distances *distances, struct byte_reader body)
{
	struct written written;
	uint32_t version;
	int error = 0;

	if (!reader_u32(&body, &version) || version != VERSION)
		return -EBADMSG;
	while (!error && reader_left(&body)) {
		struct distance distance;

		if (!reader_copy(&body, &written, sizeof(written)) ||
		    !is_possible(&written))
			return -EBADMSG;
		distance = (struct distance){
			.session = written.session, .number = written.number,
			.begin = written.begin, .period = written.period,
			.frequency = written.frequency, .burst = written.burst,
			.budget_permille = written.budget_permille,
			.filtered = written.filtered,
		};
		error = is_next(distances, &distance) ?
			distances_add(distances, &distance) : -EBADMSG;
	}
	return error && error != -ENOMEM ? -EBADMSG : error;
}
