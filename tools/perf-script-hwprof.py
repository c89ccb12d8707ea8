#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints hwprof's rows, one a line:

    perf script -s perf-script-hwprof.py -i hwprof.data

The layout is that of linux/hwprof.h; docs/rows.md explains it. Counts are
increases since the thing's last row; those of a file add up to the run."""

import struct

HEADER = struct.Struct("=HHIII")    # type, size, space, session, pid

TOTALS = 1
BRANCHES = 2
LOOP = 3
RANGE = 4
TIME = 5
CALL = 6
CONTEXT = 7
PATH = 9
VALUE = 8
BOX = 10
EDGE = 11

TOTALS_FIELDS = ("produced", "delivered", "lost", "evicted", "pending",
                 "events", "gaps", "lost_events", "memory", "windows",
                 "basis", "source")
TOTALS_BODY = struct.Struct("=10QII")
COST_FIELDS = ("cost_ns", "task_ns", "budget_permille")
COST_BODY = struct.Struct("=QQI")

BRANCHES_BODY = struct.Struct("=IIQ")   # tid, count, sequence
BRANCH = struct.Struct("=QQHHI")        # from, to, kind, flags, cycles or stack
HAS_STACK = 2                           # of the flags
KINDS = ("?", "cond", "jump", "indirect", "call", "ret", "syscall", "signal",
         "sigreturn", "gap")

LOOP_FIELDS = ("head", "tail", "back_edges", "entries", "executions",
               "unclosed", "cycles", "trip_min", "trip_max", "trip_recent",
               "tails", "tolerance", "basis", "sum_back_sq", "sum_entry_sq",
               "sum_cross")
BUCKETS = 24
LOOP_BODY = struct.Struct(f"=3Qq6Q3I4x3Q{BUCKETS}I")

RANGE_FIELDS = ("low", "count", "bits", "basis", "of")
RANGE_BODY = struct.Struct("=QQIHH")

BOX_FIELDS = ("code", "low", "count", "code_bits", "bits", "basis", "of")
BOX_BODY = struct.Struct("=QQQHHHH")

TIME_BODY = struct.Struct("=QQ")

CALL_FIELDS = ("site", "callee", "calls", "error", "evicted", "sum_sq",
               "basis")
CALL_BODY = struct.Struct("=6QI4x")

EDGE_FIELDS = ("from", "to", "end", "count", "mispredicted", "cycles", "error",
               "evicted", "sum_sq", "kind", "flags", "basis")
EDGE_BODY = struct.Struct("=9Q3I4x")

CONTEXT_FIELDS = ("id", "parent", "callee", "site", "target", "calls",
                  "deeper", "branches", "kind", "basis")
CONTEXT_BODY = struct.Struct("=8QII")
METRICS = struct.Struct("=I4x4Q")
CONTEXT_KINDS = ("?", "root", "call", "signal", "recursion")

PATH_FIELDS = ("start", "end", "target", "count", "cycles", "length", "spelled",
               "flags", "basis")
PATH_BODY = struct.Struct("=5Q4I")
PATH_JUMP = struct.Struct("=QQ")        # from, to
PATH_IN_CONTEXT = 1 << 3                # flag: behind the jumps is the context's id
PATH_CONTEXT = struct.Struct("=Q")      # the context's id

VALUE_FIELDS = ("ip", "loads", "unseen", "runs", "breaks", "stride", "strides",
                "width", "basis")
VALUE_BODY = struct.Struct("=5Qq1Q3I4x")
ONE_VALUE = struct.Struct("=3Q")        # value, hits, missed


def pairs(names, values):
    return " ".join(f"{name}={value}" for name, value in zip(names, values))


def totals(body):
    text = "totals " + pairs(TOTALS_FIELDS, TOTALS_BODY.unpack_from(body))
    if len(body) >= TOTALS_BODY.size + COST_BODY.size:   # otherwise a row of an older module
        text += " " + pairs(COST_FIELDS,
                            COST_BODY.unpack_from(body, TOTALS_BODY.size))
    return text


def loop(body):
    values = list(LOOP_BODY.unpack_from(body))
    trips = values[len(LOOP_FIELDS):]
    values[0] = hex(values[0])
    values[1] = hex(values[1])
    histogram = ",".join(f"{i}:{n}" for i, n in enumerate(trips) if n)
    return "loop " + pairs(LOOP_FIELDS, values) + f" trips={histogram or '-'}"


def range_(body):
    values = list(RANGE_BODY.unpack_from(body))
    values[0] = hex(values[0])
    return "range " + pairs(RANGE_FIELDS, values)


def box(body):
    values = list(BOX_BODY.unpack_from(body))
    values[:2] = [hex(address) for address in values[:2]]
    return "box " + pairs(BOX_FIELDS, values)


def value(body):
    *values, count = VALUE_BODY.unpack_from(body)
    values[0] = hex(values[0])
    text = ["value " + pairs(VALUE_FIELDS, values)]
    for i in range(count):
        number, hits, missed = ONE_VALUE.unpack_from(
            body, VALUE_BODY.size + i * ONE_VALUE.size)
        text.append(f"{number:#x}:{hits}+{missed}")
    return " ".join(text)


def time(body):
    ip, windows = TIME_BODY.unpack_from(body)
    return f"time ip={ip:#x} windows={windows}"


def call(body):
    values = list(CALL_BODY.unpack_from(body))
    values[0] = hex(values[0])
    values[1] = hex(values[1])
    return "call " + pairs(CALL_FIELDS, values)


def edge(body):
    values = list(EDGE_BODY.unpack_from(body))
    values[:3] = [hex(value) for value in values[:3]]
    return "edge " + pairs(EDGE_FIELDS, values)


def context(body):
    values = list(CONTEXT_BODY.unpack_from(body))
    values[:5] = [hex(value) for value in values[:5]]
    kind = values[8]
    values[8] = CONTEXT_KINDS[kind] if kind < len(CONTEXT_KINDS) else kind
    text = "context " + pairs(CONTEXT_FIELDS, values)
    metrics = body[CONTEXT_BODY.size:]
    if len(metrics) < METRICS.size:
        return text
    count, *metrics = METRICS.unpack_from(metrics)
    return text + " metrics=" + ",".join(map(str, metrics[:count]))


def path(body):
    values = list(PATH_BODY.unpack_from(body))
    spelled = values[6]
    values[:3] = [hex(address) for address in values[:3]]
    text = ["path " + pairs(PATH_FIELDS, values)]
    for i in range(spelled):
        source, target = PATH_JUMP.unpack_from(
            body, PATH_BODY.size + i * PATH_JUMP.size)
        text.append(f"{source:#x}>{target:#x}")
    if values[7] & PATH_IN_CONTEXT:
        context, = PATH_CONTEXT.unpack_from(
            body, PATH_BODY.size + spelled * PATH_JUMP.size)
        text.append(f"context={context:#x}")
    return " ".join(text)


def branches(body):
    tid, count, sequence = BRANCHES_BODY.unpack_from(body)
    text = [f"branches tid={tid} sequence={sequence}"]
    for i in range(count):
        source, target, kind, flags, last = BRANCH.unpack_from(
            body, BRANCHES_BODY.size + i * BRANCH.size)
        name = KINDS[kind] if kind < len(KINDS) else str(kind)
        if flags & HAS_STACK:
            last = f"stack={flags >> 2 << 34 | last << 2:#x}"
        text.append(f"{source:#x}>{target:#x}/{name}/{flags & 3}/{last}")
    return " ".join(text)


DECODERS = {TOTALS: totals, BRANCHES: branches, LOOP: loop,
            RANGE: range_, TIME: time, CALL: call, EDGE: edge,
            CONTEXT: context,
            PATH: path,
            VALUE: value, BOX: box}


def decode(raw):
    """Returns the row in a sample's raw data as text; None if there is none."""
    if len(raw) < HEADER.size:
        return None
    kind, size, space, session, pid = HEADER.unpack_from(raw)
    text = f"session={session} space={space} pid={pid} "
    decoder = DECODERS.get(kind)
    # The type is newer than this script; the size still gives its end.
    if not decoder:
        return text + f"type={kind} size={size}"
    return text + decoder(raw[HEADER.size:size])


# Called by perf for every sample.
def process_event(sample):
    if not sample["ev_name"].startswith("hwprof"):
        return
    text = decode(bytes(sample.get("raw_buf") or b""))
    if text is None:
        return
    about = sample["sample"]
    print(f"{about['time']} {sample['comm']} period={about['period']} {text}")
