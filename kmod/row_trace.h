/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints hwprof:hwprof_*: one for each type of row, hit when a row is made
 * for a ring. @header is the row's signed header, @row has the rest. The fields
 * are those of the row that most questions need, as in the ABI header. Branches
 * (HWPROF_ROW_BRANCHES) have none, since they are written in NMI, too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hwprof

#if !defined(HWPROF_ROW_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HWPROF_ROW_TRACE_H

#include <linux/tracepoint.h>

#include "../uapi/linux/hwprof.h"

TRACE_EVENT(hwprof_totals,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_totals *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u64, produced)
		__field(u64, delivered)
		__field(u64, lost)
		__field(u64, evicted)
		__field(u64, pending)
		__field(u64, windows)
		__field(u64, cost_ns)
		__field(u64, task_ns)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->produced = row->produced;
		__entry->delivered = row->delivered;
		__entry->lost = row->lost;
		__entry->evicted = row->evicted;
		__entry->pending = row->pending;
		__entry->windows = row->windows;
		__entry->cost_ns = row->cost_ns;
		__entry->task_ns = row->task_ns;
	),
	TP_printk("session=%u produced=%llu delivered=%llu lost=%llu evicted=%llu pending=%llu windows=%llu cost_ns=%llu task_ns=%llu",
		  __entry->session, __entry->produced, __entry->delivered,
		  __entry->lost, __entry->evicted, __entry->pending,
		  __entry->windows, __entry->cost_ns, __entry->task_ns)
);

TRACE_EVENT(hwprof_loop,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_loop *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, head)
		__field(u64, tail)
		__field(u64, back_edges)
		__field(s64, entries)
		__field(u64, trip_min)
		__field(u64, trip_max)
		__field(u64, trip_recent)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->head = row->head;
		__entry->tail = row->tail;
		__entry->back_edges = row->back_edges;
		__entry->entries = row->entries;
		__entry->trip_min = row->trip_min;
		__entry->trip_max = row->trip_max;
		__entry->trip_recent = row->trip_recent;
	),
	TP_printk("session=%u pid=%u head=0x%llx tail=0x%llx back_edges=%llu entries=%lld trip_min=%llu trip_max=%llu trip_recent=%llu",
		  __entry->session, __entry->pid, __entry->head, __entry->tail,
		  __entry->back_edges, __entry->entries, __entry->trip_min,
		  __entry->trip_max, __entry->trip_recent)
);

TRACE_EVENT(hwprof_call,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_call *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, site)
		__field(u64, callee)
		__field(u64, calls)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->site = row->site;
		__entry->callee = row->callee;
		__entry->calls = row->calls;
	),
	TP_printk("session=%u pid=%u site=0x%llx callee=0x%llx calls=%llu",
		  __entry->session, __entry->pid, __entry->site,
		  __entry->callee, __entry->calls)
);

TRACE_EVENT(hwprof_edge,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_edge *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, from)
		__field(u64, to)
		__field(u64, end)
		__field(u64, count)
		__field(u64, mispredicted)
		__field(u32, kind)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->from = row->from;
		__entry->to = row->to;
		__entry->end = row->end;
		__entry->count = row->count;
		__entry->mispredicted = row->mispredicted;
		__entry->kind = row->kind;
	),
	TP_printk("session=%u pid=%u from=0x%llx to=0x%llx end=0x%llx count=%llu mispredicted=%llu kind=%u",
		  __entry->session, __entry->pid, __entry->from, __entry->to,
		  __entry->end, __entry->count, __entry->mispredicted,
		  __entry->kind)
);

TRACE_EVENT(hwprof_path,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_path *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, start)
		__field(u64, end)
		__field(u64, target)
		__field(u64, count)
		__field(u32, length)
		__field(u32, flags)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->start = row->start;
		__entry->end = row->end;
		__entry->target = row->target;
		__entry->count = row->count;
		__entry->length = row->length;
		__entry->flags = row->flags;
	),
	TP_printk("session=%u pid=%u start=0x%llx end=0x%llx target=0x%llx count=%llu length=%u flags=0x%x",
		  __entry->session, __entry->pid, __entry->start,
		  __entry->end, __entry->target, __entry->count,
		  __entry->length, __entry->flags)
);

TRACE_EVENT(hwprof_context,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_context *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, id)
		__field(u64, parent)
		__field(u64, callee)
		__field(u64, site)
		__field(u64, calls)
		__field(u64, branches)
		__field(u32, kind)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->id = row->id;
		__entry->parent = row->parent;
		__entry->callee = row->callee;
		__entry->site = row->site;
		__entry->calls = row->calls;
		__entry->branches = row->branches;
		__entry->kind = row->kind;
	),
	TP_printk("session=%u pid=%u id=0x%llx parent=0x%llx callee=0x%llx site=0x%llx calls=%llu branches=%llu kind=%u",
		  __entry->session, __entry->pid, __entry->id,
		  __entry->parent, __entry->callee, __entry->site,
		  __entry->calls, __entry->branches, __entry->kind)
);

TRACE_EVENT(hwprof_value,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_value *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, ip)
		__field(u64, loads)
		__field(u64, runs)
		__field(u64, value)
		__field(u64, hits)
		__field(u64, missed)
		__field(u32, width)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->ip = row->ip;
		__entry->loads = row->loads;
		__entry->runs = row->runs;
		__entry->value = row->values[0].value;
		__entry->hits = row->values[0].hits;
		__entry->missed = row->values[0].missed;
		__entry->width = row->width;
	),
	TP_printk("session=%u pid=%u ip=0x%llx loads=%llu runs=%llu value=0x%llx hits=%llu missed=%llu width=%u",
		  __entry->session, __entry->pid, __entry->ip, __entry->loads,
		  __entry->runs, __entry->value, __entry->hits,
		  __entry->missed, __entry->width)
);

TRACE_EVENT(hwprof_range,
	TP_PROTO(const struct hwprof_row *header,
		 const struct hwprof_row_range *row),
	TP_ARGS(header, row),
	TP_STRUCT__entry(
		__field(u32, session)
		__field(u32, pid)
		__field(u64, low)
		__field(u64, count)
		__field(u32, bits)
		__field(u32, of)
	),
	TP_fast_assign(
		__entry->session = header->session;
		__entry->pid = header->pid;
		__entry->low = row->low;
		__entry->count = row->count;
		__entry->bits = row->bits;
		__entry->of = row->of;
	),
	TP_printk("session=%u pid=%u low=0x%llx count=%llu bits=%u of=%u",
		  __entry->session, __entry->pid, __entry->low,
		  __entry->count, __entry->bits, __entry->of)
);

#endif /* HWPROF_ROW_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE row_trace
#include <trace/define_trace.h>
