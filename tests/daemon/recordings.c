// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "recordings.h"

enum { PID = 100, LOST = 7 };

static struct hwprof_row head_of(unsigned int type, size_t size, uint32_t pid)
{
	return (struct hwprof_row){
		.type = type, .size = size, .space = pid, .session = 1,
		.pid = pid,
	};
}

static void add_totals(struct fixture *fixture, uint64_t delivered)
{
	const struct hwprof_row_totals row = {
		.row = head_of(HWPROF_ROW_TOTALS, sizeof(row), 0),
		.produced = delivered + LOST, .delivered = delivered,
		.lost = LOST, .events = delivered + LOST, .windows = 3,
		.basis = HWPROF_BASIS_BRANCHES, .source = HWPROF_SOURCE_LBR,
		.cost_ns = 1000000, .task_ns = 200000000,
		.budget_permille = 10,
	};

	fixture_row(fixture, 20, 0, 0, 0, &row.row);
}

static void add_loop(struct fixture *fixture, const struct recorded_code *code,
		     uint64_t units)
{
	struct hwprof_row_loop row = fixture_loop(PID, PID, code->head,
						  code->head + 16, units,
						  units / 4);

	row.basis = HWPROF_BASIS_BRANCHES;
	row.sum_back_sq = row.sum_entry_sq = units;
	fixture_add_loop(fixture, 10, &row);
}

static void begin(struct fixture *fixture, const char *event,
		  const struct recorded_code *code)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, PID, "prog", true);
	fixture_map(fixture, 2, PID, code->start, code->size, code->offset,
		    code->path, code->id);
	if (code->label.cgroup) {
		struct label label = code->label;

		label.pid = PID;
		assert_int_equal(labels_set(&fixture->labels, &label), 0);
	}
}

void recordings_make(struct fixture *fixture, const struct recorded_code *code,
		     uint64_t units)
{
	const struct hwprof_row_call call = {
		.row = head_of(HWPROF_ROW_CALL, sizeof(call), PID),
		.site = code->head + 8, .callee = code->callee, .calls = units,
		.basis = HWPROF_BASIS_BRANCHES,
	};
	const struct hwprof_row_edge edge = {
		.row = head_of(HWPROF_ROW_EDGE, sizeof(edge), PID),
		.from = code->head + 16, .to = code->head,
		.end = code->head + 16, .count = units,
		.kind = HWPROF_BRANCH_COND, .basis = HWPROF_BASIS_BRANCHES,
	};

	begin(fixture, "loops,calls,edges,lbr,rows", code);
	add_loop(fixture, code, units);
	fixture_row(fixture, 11, call.site, call.callee, units, &call.row);
	fixture_row(fixture, 12, edge.from, edge.to, units, &edge.row);
	add_totals(fixture, 3 * units);
	fixture_end(fixture);
}

void recordings_make_stacks(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units)
{
	struct hwprof_row_context row = {
		.row = head_of(HWPROF_ROW_CONTEXT,
			       HWPROF_ROW_CONTEXT_SIZE_VER0, PID),
		.id = 5, .callee = code->head, .kind = HWPROF_CONTEXT_ROOT,
		.basis = HWPROF_BASIS_TIME,
	};

	begin(fixture, "cct,sample,rows", code);
	fixture_row(fixture, 11, row.callee, 0, 0, &row.row);
	row.id = 6;
	row.parent = 5;
	row.kind = HWPROF_CONTEXT_CALL;
	row.site = code->head + 8;
	row.callee = code->callee;
	row.weight = row.samples = units;
	fixture_row(fixture, 12, row.callee, row.site, units, &row.row);
	add_totals(fixture, units);
	fixture_end(fixture);
}

void recordings_make_values(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units)
{
	const struct hwprof_row_value row = {
		.row = head_of(HWPROF_ROW_VALUE, sizeof(row), PID),
		.ip = code->head, .loads = units, .runs = 1, .breaks = 1,
		.width = 8, .basis = HWPROF_BASIS_EXACT, .count = 1,
		.values[0] = { .value = 42, .hits = units },
	};

	begin(fixture, "values,step,burst=50,rows", code);
	fixture_row(fixture, 10, row.ip, 0, units, &row.row);
	add_totals(fixture, units);
	fixture_end(fixture);
}

static void add_range(struct fixture *fixture, uint64_t low, uint32_t bits,
		      uint64_t count)
{
	const struct hwprof_row_range row = {
		.row = head_of(HWPROF_ROW_RANGE, sizeof(row), PID),
		.low = low, .bits = bits, .count = count,
		.basis = HWPROF_BASIS_EXACT, .of = HWPROF_RANGE_LOAD_ADDRESS,
	};

	fixture_row(fixture, 10, low, low, count, &row.row);
}

void recordings_make_ranges(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units)
{
	begin(fixture, "ranges,range_of=load-address,step,burst=50,rows", code);
	fixture_map(fixture, 2, PID, RECORDED_DATA, 0x10000, 0, "//anon", NULL);
	add_range(fixture, RECORDED_DATA, 6, units);
	add_range(fixture, RECORDED_DATA + 0x4000, 6, 100);
	add_range(fixture, RECORDED_DATA, 16, 20);
	add_totals(fixture, units + 120);
	fixture_end(fixture);
}
