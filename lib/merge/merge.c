// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/event_config.h"
#include "base/hash.h"
#include "base/text.h"
#include "code/processes.h"
#include "merge_state.h"
#include "profile/recording_facts.h"

enum {
	ROW_SIZE = sizeof(struct hwprof_row_path) +
		   HWPROF_PATH_JUMPS_MAX * sizeof(struct hwprof_path_jump),
	KNOWN_PROGRAMS = 64,
};

union row_buffer {
	struct hwprof_row row;
	struct hwprof_row_loop loop;
	struct hwprof_row_call call;
	struct hwprof_row_edge edge;
	struct hwprof_row_path path;
	struct hwprof_row_context context;
	uint8_t bytes[ROW_SIZE];
};

/* A session of the recording that is added. */
struct added_session {
	uint32_t session;
	size_t group;
};

/* A process of the recording, and its number in the result. */
struct known_program {
	const char *name;		/* NULL: none */
	const struct label *label;
	uint32_t pid;
};

/* A recording while it is added. */
struct addition {
	struct merge *merge;
	struct hwprof_file *file;
	struct recording_facts facts;
	struct added_session *sessions;
	size_t session_count;
	struct row_table rows;		/* with addresses of processes */
	struct row_entry **chain;	/* of callers, for a moment */
	size_t chain_count, chain_room;
	struct numbers maps;		/* their addresses; the value is the
					 * number of the object, as of
					 * object_of() */
	struct known_program known[KNOWN_PROGRAMS];	/* by pid */
};

struct merge *merge_new(void)
{
	return calloc(1, sizeof(struct merge));
}

void merge_free(struct merge *merge)
{
	size_t i;

	if (!merge)
		return;
	for (i = 0; i < merge->object_count; i++)
		free(merge->objects[i].name);
	for (i = 0; i < merge->program_count; i++)
		free(merge->programs[i].name);
	free(merge->objects);
	free(merge->programs);
	free(merge->groups);
	free(merge->parts);
	free(merge->by_part);
	numbers_free(&merge->ids);
	numbers_free(&merge->names);
	numbers_free(&merge->program_names);
	numbers_free(&merge->cgroups);
	numbers_free(&merge->part_numbers);
	row_table_free(&merge->rows);
	hwprof_file_close(merge->machine);
	free(merge);
}

void merge_choose(struct merge *merge, const struct label_filter *filter)
{
	merge->filter = *filter;
}

void merge_split(struct merge *merge)
{
	merge->split = true;
}

uint64_t merge_folded(const struct merge *merge)
{
	return merge->folded;
}

bool merge_process(const struct merge *merge, size_t index,
		   struct merge_process *process)
{
	const struct merge_program *program;

	if (index >= merge->program_count)
		return false;
	program = &merge->programs[index];
	*process = (struct merge_process){
		.program = program->name, .uid = program->label.uid,
		.cgroup = program->label.cgroup, .units = program->units,
	};
	return true;
}

const struct merge_part *merge_part(const struct merge *merge, size_t index)
{
	return index < merge->part_count ? &merge->parts[index].part : NULL;
}

/* --- objects, programs, groups and parts ---------------------------------- */

/* Returns the entry of a build under a name; NULL if out of memory. */
static struct numbered *named_entry(struct merge *merge, const char *name,
				    const struct build_id *id)
{
	char digits[BUILD_ID_TEXT], *text;
	struct numbered *entry;
	bool is_new;

	build_id_print(id, digits);
	/* No name of a file begins with an end of a line. */
	if (asprintf(&text, "\n%s %s", digits, name) < 0)
		return NULL;
	entry = numbers_text(&merge->names, text, &is_new);
	free(text);
	return entry;
}

/* Returns the entry of an object; NULL if out of memory. */
static struct numbered *object_entry(struct merge *merge, const char *name,
				     const struct build_id *id)
{
	uint64_t words[NUMBERED_WORDS] = { id->size };
	bool is_new;

	if (!id->size)
		return numbers_text(&merge->names, name, &is_new);
	if (merge->split)
		return named_entry(merge, name, id);
	memcpy(&words[1], id->bytes, sizeof(id->bytes));
	return numbers_words(&merge->ids, words, &is_new);
}

/*
 * Sets *@number to the number of an object, from 1; 0 if there are too many.
 * Objects with one build id are one, whatever their names, unless the merge is
 * split. Returns 0 or -ENOMEM.
 */
static int object_of(struct merge *merge, const char *name,
		     const struct build_id *id, size_t *number)
{
	struct numbered *entry = object_entry(merge, name, id);
	size_t count = merge->object_count;
	struct merge_object *all;

	if (!entry)
		return -ENOMEM;
	*number = entry->value;
	if (entry->value || count == MERGE_OBJECTS_MAX)
		return 0;
	all = array_grow(merge->objects, &merge->object_room, count + 1,
			 sizeof(*all));
	if (!all)
		return -ENOMEM;
	merge->objects = all;
	all[count] = (struct merge_object){ .name = strdup(name), .id = *id };
	if (!all[count].name)
		return -ENOMEM;
	*number = entry->value = ++merge->object_count;
	return 0;
}

static int add_program(struct merge *merge, struct numbered *entry,
		       const char *name, const struct label *label)
{
	struct merge_program *all = array_grow(merge->programs,
					       &merge->program_room,
					       merge->program_count + 1,
					       sizeof(*all));
	size_t number = merge->program_count + 1;
	struct numbered *cgroup;
	bool is_new;

	if (!all)
		return -ENOMEM;
	merge->programs = all;
	cgroup = numbers_text(&merge->cgroups, label->cgroup, &is_new);
	name = strdup(name);
	if (!cgroup || !name) {
		free((char *)name);
		return -ENOMEM;
	}
	all[number - 1] = (struct merge_program){
		.name = (char *)name, .label = *label,
		.wanted = label_is_wanted(&merge->filter, name, label),
	};
	all[number - 1].label.pid = number;
	all[number - 1].label.cgroup = cgroup->text;
	merge->program_count = entry->value = number;
	return 0;
}

/* Returns the entry of a name with a label; NULL if out of memory. */
static struct numbered *program_entry(struct merge *merge, const char *name,
				      const struct label *label)
{
	struct numbered *entry;
	char *text;
	bool is_new;

	/* Paths of cgroups have no ends of lines. */
	if (asprintf(&text, "%u %d %s\n%s", label->uid, label->seen,
		     label->cgroup, name) < 0)
		return NULL;
	entry = numbers_text(&merge->program_names, text, &is_new);
	free(text);
	return entry;
}

static const struct label no_label = { .uid = LABEL_NO_UID, .cgroup = "" };

/* Programs beyond the limit share one process, the last. */
static int other_program(struct merge *merge, uint32_t *pid)
{
	struct numbered *entry = program_entry(merge, MERGE_OTHER, &no_label);
	int error = entry ? 0 : -ENOMEM;

	if (!error && !entry->value)
		error = add_program(merge, entry, MERGE_OTHER, &no_label);
	if (!error)
		*pid = entry->value;
	return error;
}

/* Sets *@pid to the number of the program in the result. */
static int program_of(struct merge *merge, const char *name,
		      const struct label *label, uint32_t *pid)
{
	struct numbered *entry = program_entry(merge, name, label);
	int error = 0;

	if (!entry)
		return -ENOMEM;
	if (!entry->value && merge->program_count >= MERGE_PROGRAMS_MAX - 1)
		return other_program(merge, pid);
	if (!entry->value)
		error = add_program(merge, entry, name, label);
	*pid = entry->value;
	return error;
}

/* The same, for the process of an entry. */
static int program_at(struct addition *addition, const struct row_entry *entry,
		      uint32_t *pid)
{
	struct known_program *known =
		&addition->known[entry->row->pid % KNOWN_PROGRAMS];
	const struct label *label = labels_find(&addition->file->labels,
						entry->row->pid);
	const char *name = processes_comm(addition->facts.processes,
					  entry->row->pid, entry->last);
	int error;

	if (!name)
		name = "[unknown]";
	if (!label)
		label = &no_label;
	if (name != known->name || label != known->label) {
		error = program_of(addition->merge, name, label, &known->pid);
		if (error)
			return error;
		known->name = name;
		known->label = label;
	}
	*pid = known->pid;
	return 0;
}

/* Sets *@wanted to whether the filter chooses the process of an entry. */
static int is_wanted(struct addition *addition,
		     const struct row_entry *entry, bool *wanted)
{
	uint32_t pid;
	int error = program_at(addition, entry, &pid);

	if (!error)
		*wanted = addition->merge->programs[pid - 1].wanted;
	return error;
}

/* Sets *@group to the group of events with these words. */
static int group_of(struct merge *merge, const uint64_t words[3],
		    size_t *group)
{
	unsigned int kinds = event_kinds_of(words);
	struct merge_group *all;
	size_t i;

	for (i = 0; i < merge->group_count; i++)
		if (merge->groups[i].kinds == kinds)
			break;
	*group = i;
	if (i < merge->group_count)
		return 0;
	all = reallocarray(merge->groups, i + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	merge->groups = all;
	all[i] = (struct merge_group){ .kinds = kinds };
	memcpy(all[i].words, words, sizeof(all[i].words));
	merge->group_count++;
	return 0;
}

static void name_part(const struct merge *merge,
		      struct merge_part_state *state)
{
	struct merge_part *part = &state->part;
	const struct merge_object *object;
	unsigned int i;

	part->object = state->kernel ? "[kernel]" : "[unknown]";
	if (!state->object)
		return;
	object = &merge->objects[state->object - 1];
	part->object = object->name;
	for (i = 0; i < object->id.size && i < sizeof(object->id.bytes); i++)
		sprintf(part->build_id + 2 * i, "%02x", object->id.bytes[i]);
}

static int part_of(struct merge *merge, enum hwprof_kind kind, uint64_t address,
		   size_t *part)
{
	struct merge_part_state state = {
		.part.kind = kind, .object = merge_object_at(merge, address),
		.kernel = address >> 63,
	};
	const uint64_t words[NUMBERED_WORDS] = {
		kind, state.object, state.kernel,
	};
	struct merge_part_state *all;
	struct numbered *entry;
	bool is_new;

	entry = numbers_words(&merge->part_numbers, words, &is_new);
	if (!entry)
		return -ENOMEM;
	*part = entry->number;
	if (!is_new)
		return 0;
	all = array_grow(merge->parts, &merge->part_room, *part + 1,
			 sizeof(*all));
	if (!all)
		return -ENOMEM;
	merge->parts = all;
	name_part(merge, &state);
	all[*part] = state;
	merge->part_count++;
	return 0;
}

/* --- reading -------------------------------------------------------------- */

static int note_session(struct addition *addition, uint32_t session,
			size_t group)
{
	struct added_session *all;
	size_t i;

	for (i = 0; i < addition->session_count; i++)
		if (addition->sessions[i].session == session)
			return 0;
	all = reallocarray(addition->sessions, i + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	addition->sessions = all;
	all[addition->session_count++] = (struct added_session){
		session, group,
	};
	return 0;
}

/* Copies what is known of a row: not its metrics, nor a path's context. */
static void copy_row(union row_buffer *to, const struct row_fields *fields,
		     const struct hwprof_row *row)
{
	size_t size = fields->size;

	memset(to, 0, sizeof(*to));
	memcpy(to, row, size);
	if (row->type == HWPROF_ROW_PATH) {
		size_t spelled = to->path.spelled;

		if (spelled > HWPROF_PATH_JUMPS_MAX)
			spelled = HWPROF_PATH_JUMPS_MAX;
		memcpy(to->path.jumps, ((const struct hwprof_row_path *)row)->
		       jumps, spelled * sizeof(to->path.jumps[0]));
		to->path.spelled = spelled;
		to->path.flags &= ~HWPROF_PATH_IN_CONTEXT;
		size += spelled * sizeof(to->path.jumps[0]);
	}
	to->row.size = size;
}

static int take(void *context, const struct hwprof_sample *sample)
{
	struct addition *addition = context;
	const struct row_fields *fields;
	struct row_entry *entry;
	union row_buffer buffer;
	size_t group;
	int error;

	if (!sample->row || !sample->rows || !event_kinds_of(sample->config))
		return 0;
	error = group_of(addition->merge, sample->config, &group);
	if (!error)
		error = note_session(addition, sample->row->session, group);
	if (error)
		return error;
	error = facts_note(&addition->facts, sample);
	if (error)
		return error < 0 ? error : 0;
	fields = row_fields_of(sample->row->type);
	if (!fields)
		return 0;
	copy_row(&buffer, fields, sample->row);
	error = row_table_add(&addition->rows, fields, &buffer.row,
			      sample->time, sample->time, false, &entry);
	if (!error)
		entry->group = group;
	return error;
}

/* --- addresses ------------------------------------------------------------ */

/* Returns the map that an entry's process had at @address; NULL: unknown. */
static const struct mapping *map_of(const struct addition *addition,
				    const struct row_entry *entry,
				    uint64_t address)
{
	const struct processes *processes = addition->facts.processes;
	uint32_t pid = entry->row->pid;
	const struct mapping *mapping;

	mapping = processes_find(processes, pid, entry->first, address);
	if (!mapping)
		mapping = processes_find(processes, pid, entry->last, address);
	if (!mapping || mapping->anonymous || mapping->copy)
		return NULL;
	return *mapping->name == '/' || !strcmp(mapping->name, "[vdso]") ?
	       mapping : NULL;
}

/*
 * Sets *@number as object_of() does. Each map is looked at once: they stay
 * where they are now that all are read.
 */
static int object_at(struct addition *addition, const struct mapping *mapping,
		     size_t *number)
{
	const uint64_t words[NUMBERED_WORDS] = { (uintptr_t)mapping };
	struct numbered *entry;
	struct build_id id;
	bool is_new;
	int error;

	entry = numbers_words(&addition->maps, words, &is_new);
	if (!entry)
		return -ENOMEM;
	*number = entry->value;
	if (!is_new)
		return 0;
	id = processes_build_id(addition->file, mapping);
	error = object_of(addition->merge, mapping->name, &id, number);
	entry->value = *number;
	return error;
}

/*
 * Replaces *@address of a process by that of the result. Addresses of the
 * kernel, and 0, stay. Returns 0 or -ENOMEM.
 */
static int move(struct addition *addition, const struct row_entry *entry,
		uint64_t *address)
{
	const struct mapping *mapping;
	uint64_t offset;
	size_t number;
	int error;

	if (!*address || *address >> 63)
		return 0;
	mapping = map_of(addition, entry, *address);
	offset = mapping ? *address - mapping->start + mapping->offset : 0;
	*address = MERGE_UNKNOWN;
	if (!mapping || offset >> MERGE_OBJECT_SHIFT)
		return 0;
	error = object_at(addition, mapping, &number);
	if (!error && number)
		*address = ((uint64_t)number << MERGE_OBJECT_SHIFT) + offset;
	return error;
}

/* Moves the places of a row, and with each the extent that follows it. */
static int move_places(struct addition *addition,
		       const struct row_entry *entry, struct hwprof_row *row)
{
	const struct row_fields *fields = entry->fields;
	uint64_t old = 0, place = 0, value;
	int error = 0;
	size_t i;

	for (i = 0; i < fields->count && !error; i++) {
		const struct row_field *field = &fields->fields[i];

		value = row_get(row, field, 0);
		if (field->rule == FIELD_PLACE) {
			old = place = value;
			error = move(addition, entry, &place);
			value = place;
		} else if (field->rule == FIELD_EXTENT) {
			value = value < old || place == MERGE_UNKNOWN ? place :
				place + (value - old);
		} else {
			continue;
		}
		row_set(row, field, 0, value);
	}
	return error;
}

/* A path is in one object, or in code that is in none. */
static int move_path(struct addition *addition, const struct row_entry *entry,
		     struct hwprof_row_path *path)
{
	bool known = path->start != MERGE_UNKNOWN &&
		     path->end != MERGE_UNKNOWN &&
		     path->target != MERGE_UNKNOWN;
	int error = 0;
	uint32_t i;

	for (i = 0; i < path->spelled && !error; i++) {
		uint64_t from = path->jumps[i].from, to = path->jumps[i].to;

		error = move(addition, entry, &from);
		if (!error)
			error = move(addition, entry, &to);
		path->jumps[i] = (struct hwprof_path_jump){ from, to };
		known = known && from != MERGE_UNKNOWN && to != MERGE_UNKNOWN;
	}
	if (known)
		return error;
	path->start = path->start ? MERGE_UNKNOWN : 0;
	path->end = path->end ? MERGE_UNKNOWN : 0;
	path->target = path->target ? MERGE_UNKNOWN : 0;
	path->length = path->spelled = 0;
	path->row.size = sizeof(*path);
	return error;
}

/*
 * Returns what a pair or an edge may lack: the session may have evicted more
 * after its last row.
 */
static uint64_t missed(const struct addition *addition, uint32_t session,
		       uint64_t error, uint64_t evicted)
{
	uint64_t all = facts_evicted_of(&addition->facts, session);

	return all > evicted ? error + (all - evicted) : error;
}

static void settle_bounds(const struct addition *addition,
			  union row_buffer *buffer)
{
	struct hwprof_row_call *call = &buffer->call;
	struct hwprof_row_edge *edge = &buffer->edge;
	uint32_t session = buffer->row.session;

	if (buffer->row.type == HWPROF_ROW_CALL) {
		call->error = missed(addition, session, call->error,
				     call->evicted);
		call->evicted = 0;
	} else if (buffer->row.type == HWPROF_ROW_EDGE) {
		edge->error = missed(addition, session, edge->error,
				     edge->evicted);
		edge->evicted = 0;
	}
}

/* --- contexts ------------------------------------------------------------- */

static struct row_entry *context_entry(const struct addition *addition,
				       const struct hwprof_row *of, uint64_t id)
{
	struct hwprof_row_context row = { .row = *of, .id = id };

	return id ? row_table_find(&addition->rows,
				   row_fields_of(HWPROF_ROW_CONTEXT),
				   &row.row) : NULL;
}

/*
 * Gives a context, whose caller has one, an id that tells the chain of calls,
 * and so is the same in all recordings. Its addresses are moved.
 */
static int number_context(struct addition *addition, struct row_entry *entry,
			  const struct row_entry *caller)
{
	struct hwprof_row_context *row = (void *)entry->row;
	uint64_t callee = row->callee, site = row->site, hash;
	uint32_t pid;
	int error = program_at(addition, entry, &pid);

	if (!error)
		error = move(addition, entry, &callee);
	if (!error)
		error = move(addition, entry, &site);
	if (error)
		return error;
	row->callee = callee;
	row->site = site;
	entry->caller_id = caller ? caller->new_id : 0;
	hash = hash_mix(caller ? caller->new_id : pid, row->kind);
	hash = hash_mix(hash_mix(hash, callee), site);
	entry->new_id = hash ? hash : 1;
	if (!caller)
		return part_of(addition->merge, HWPROF_KIND_CCT, callee,
			       &entry->part);
	/* The outermost procedure decides whose part it is. */
	entry->part = caller->part;
	return 0;
}

/*
 * Lists a context and its callers that have no id yet, the outermost last. In a
 * hostile file contexts may call each other in a circle, which is cut. *@caller
 * receives what called the last one; NULL: nothing is known to have.
 */
static int list_chain(struct addition *addition, struct row_entry *entry,
		      struct row_entry **caller)
{
	const struct hwprof_row_context *row;

	addition->chain_count = 0;
	while (entry && !entry->new_id && !entry->listed) {
		struct row_entry **chain =
			array_grow(addition->chain, &addition->chain_room,
				   addition->chain_count + 1, sizeof(*chain));

		if (!chain)
			return -ENOMEM;
		addition->chain = chain;
		chain[addition->chain_count++] = entry;
		entry->listed = true;
		row = (const void *)entry->row;
		entry = context_entry(addition, entry->row, row->parent);
	}
	*caller = entry && entry->new_id ? entry : NULL;
	return 0;
}

static int number_chain(struct addition *addition, struct row_entry *entry)
{
	struct row_entry *caller;
	bool wanted = false;
	int error = is_wanted(addition, entry, &wanted);

	/* All callers are of the same process. */
	if (error || !wanted)
		return error;
	error = list_chain(addition, entry, &caller);
	while (!error && addition->chain_count) {
		entry = addition->chain[--addition->chain_count];
		error = number_context(addition, entry, caller);
		caller = entry;
	}
	return error;
}

static int number_contexts(struct addition *addition)
{
	const struct row_table *rows = &addition->rows;
	int error = 0;
	size_t i;

	for (i = 0; i < rows->count && !error; i++)
		if (rows->entries[i]->row->type == HWPROF_ROW_CONTEXT)
			error = number_chain(addition, rows->entries[i]);
	return error;
}

/* Sets the ids of a copy of a context's row. */
static void set_ids(const struct addition *addition,
		    const struct row_entry *entry,
		    struct hwprof_row_context *row)
{
	const struct row_entry *target;

	target = context_entry(addition, entry->row, row->target);
	row->id = entry->new_id;
	row->parent = entry->caller_id;
	row->target = target ? target->new_id : 0;
	if (target)
		row->id = hash_mix(row->id, row->target);
}

/* --- adding to the merge -------------------------------------------------- */

static uint64_t units_of(const struct hwprof_row *row)
{
	struct hwprof_sample sample = { .row = row };

	row_describe(&sample);
	return sample.period;
}

/* The first place that is known says whose the row is. */
static uint64_t owner_of(const struct row_fields *fields,
			 const struct hwprof_row *row)
{
	uint64_t address = 0;
	size_t i;

	for (i = 0; i < fields->count && !address; i++)
		if (fields->fields[i].rule == FIELD_PLACE)
			address = row_get(row, &fields->fields[i], 0);
	return address;
}

/* Makes @buffer the row of the result, and finds its part. */
static int convert(struct addition *addition, struct row_entry *entry,
		   union row_buffer *buffer)
{
	int error;

	if (buffer->row.type == HWPROF_ROW_CONTEXT) {
		set_ids(addition, entry, &buffer->context);
		return 0;
	}
	settle_bounds(addition, buffer);
	error = move_places(addition, entry, &buffer->row);
	if (!error && buffer->row.type == HWPROF_ROW_PATH)
		error = move_path(addition, entry, &buffer->path);
	return error ? error :
	       part_of(addition->merge, entry->fields->kind,
		       owner_of(entry->fields, &buffer->row), &entry->part);
}

static void note_units(struct merge *merge, uint32_t pid,
		       enum hwprof_kind kind, uint64_t units)
{
	struct merge_program *program = &merge->programs[pid - 1];

	program->units[kind] += units;
	if (!strcmp(program->name, MERGE_OTHER))
		merge->folded += units;
}

static int add_entry(struct addition *addition, struct row_entry *entry)
{
	struct merge *merge = addition->merge;
	struct row_entry *added;
	union row_buffer buffer;
	size_t before;
	uint32_t pid;
	int error = program_at(addition, entry, &pid);

	if (error || !merge->programs[pid - 1].wanted)
		return error;
	memset(&buffer, 0, sizeof(buffer));
	memcpy(&buffer, entry->row, entry->row->size);
	error = convert(addition, entry, &buffer);
	if (error)
		return error;
	buffer.row.session = entry->group + 1;
	buffer.row.space = buffer.row.pid = pid;
	before = merge->rows.count;
	error = row_table_add(&merge->rows, entry->fields, &buffer.row,
			      entry->first, entry->last, true, &added);
	if (error)
		return error;
	added->group = entry->group;
	added->part = entry->part;
	merge->parts[added->part].part.units += units_of(&buffer.row);
	merge->parts[added->part].part.rows += merge->rows.count - before;
	note_units(merge, pid, entry->fields->kind, units_of(&buffer.row));
	return 0;
}

/* Adds what rows are, whosever they are. */
static void add_origin(struct hwprof_row_totals *to,
		       const struct hwprof_row_totals *from)
{
	if (from->basis > to->basis)
		to->basis = from->basis;
	if (from->source)
		to->source = from->source;
}

/* The rows of the recording say themselves what was delivered. */
static void add_account(struct hwprof_row_totals *to,
			const struct hwprof_row_totals *from)
{
	to->lost += from->lost;
	to->evicted += from->evicted;
	to->pending += from->pending;
	to->produced += from->lost + from->evicted + from->pending;
	to->events += from->events;
	to->gaps += from->gaps;
	to->lost_events += from->lost_events;
	to->windows += from->windows;
	to->cost_ns += from->cost_ns;
	to->task_ns += from->task_ns;
	if (from->memory > to->memory)
		to->memory = from->memory;
	if (from->budget_permille > to->budget_permille)
		to->budget_permille = from->budget_permille;
}

/* The account is that of all processes: some have none. */
static int add_accounts(struct addition *addition)
{
	bool all = !label_filter_is_set(&addition->merge->filter);
	size_t i;

	for (i = 0; i < addition->session_count; i++) {
		struct hwprof_row_totals *to = &addition->merge->groups
			[addition->sessions[i].group].totals;
		const struct session_facts *session;

		session = facts_session(&addition->facts,
					    addition->sessions[i].session);
		if (!session)
			return -ENOMEM;
		add_origin(to, &session->totals);
		if (all)
			add_account(to, &session->totals);
	}
	if (all)
		addition->merge->lost_records += file_lost(addition->file);
	return 0;
}

/*
 * Takes the sections that describe the machine from the first recording, and
 * the masks from each.
 */
static int keep_machine(struct merge *merge, struct hwprof_file *file)
{
	if (!merge->machine) {
		merge->machine = file_new(-1, "merged");
		if (!merge->machine)
			return -ENOMEM;
		merge->machine->sections = file->sections;
		merge->machine->section_count = file->section_count;
		file->sections = NULL;
		file->section_count = 0;
	}
	return numbers_add_texts(&merge->machine->masks, &file->masks);
}

/* Notes all events, also those that have no rows in this recording. */
static int note_events(struct merge *merge, struct hwprof_file *file)
{
	unsigned int kinds;
	int error = hwprof_file_kinds(file, &kinds);
	size_t i, group;

	for (i = 0; i < file->event_count && !error; i++) {
		const struct perf_event_attr *attr = &file->events[i].attr;
		const uint64_t words[] = {
			attr->config, attr->config1, attr->config2,
		};

		if (file_event_is_hwprof(file, &file->events[i]) &&
		    event_kinds_of(words))
			error = group_of(merge, words, &group);
	}
	return error;
}

static int add_all(struct addition *addition)
{
	struct hwprof_file *file = addition->file;
	int error = number_contexts(addition);
	size_t i;

	for (i = 0; i < addition->rows.count && !error; i++)
		error = add_entry(addition, addition->rows.entries[i]);
	if (!error)
		error = add_accounts(addition);
	if (error)
		return error;
	return keep_machine(addition->merge, file);
}

/* Rows of one thing are added up as they are. */
static int check_distances(struct hwprof_file *file)
{
	const struct distances *distances = &file->distances;
	size_t i;

	for (i = 1; i < distances->count; i++)
		if (distances->all[i].session == distances->all[i - 1].session)
			return file_fail(file, -EOPNOTSUPP,
					 "cannot be merged: its sessions have changed their distances (--converge)");
	return 0;
}

int merge_add(struct merge *merge, struct hwprof_file *file)
{
	struct addition addition = { .merge = merge, .file = file };
	int error = check_distances(file);

	if (!error)
		error = note_events(merge, file);

	free(merge->by_part);
	merge->by_part = NULL;
	if (!error)
		error = facts_collect(&addition.facts, file, "rows", take,
				      &addition);
	if (!error)
		error = add_all(&addition);
	row_table_free(&addition.rows);
	free(addition.sessions);
	free(addition.chain);
	numbers_free(&addition.maps);
	facts_free(&addition.facts);
	return error == -ENOMEM ? file_fail(file, error, "out of memory") :
				  error;
}

struct hwprof_row_totals merge_totals(const struct merge *merge, bool rows)
{
	struct hwprof_row_totals totals = { .produced = 0 };
	size_t i;

	for (i = 0; i < merge->group_count; i++) {
		add_origin(&totals, &merge->groups[i].totals);
		add_account(&totals, &merge->groups[i].totals);
	}
	for (i = 0; rows && i < merge->part_count; i++)
		totals.delivered += merge->parts[i].part.units;
	totals.produced += totals.delivered;
	return totals;
}

uint64_t merge_lost_records(const struct merge *merge)
{
	return merge->lost_records;
}
