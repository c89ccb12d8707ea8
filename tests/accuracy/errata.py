# SPDX-License-Identifier: GPL-2.0-only
"""Alters a recording of `perf record -b` as CPUs with errata would have made it.

Of the stacks, a quarter have their newest branch twice, as a Skylake records it, and
the oldest is gone. Of the branches, one in 1,000 is missing, one in 1,000 ends an
aborted transaction, and one in 20 is mispredicted.
"""
import collections
import random
import struct

CPU = b"GenuineIntel,6,85,4"        # it has the erratum
COPIED, DROPPED, ABORTED, MISPREDICTED = 1 / 4, 1 / 1000, 1 / 1000, 1 / 20
KINDS = ("copied", "dropped", "aborted", "mispredicted")

SAMPLE, CPUID = 9, 9                # type of record; section
ENTRY = struct.Struct("<3Q")        # from, to, flags
FLAG_MISPREDICTED, FLAG_PREDICTED, FLAG_ABORT = 1, 2, 8

# Bits of sample_type: fields of 8 bytes before the stack, in their order.
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU_BIT, PERIOD, STREAM, RAW, STACK = (
    1 << bit for bit in range(12))
IDENTIFIER = 1 << 16
PLAIN = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU_BIT, PERIOD)
HW_INDEX = 1 << 17                  # bit of branch_sample_type


class Attr:
    def __init__(self, content):
        self.sample_type, = struct.unpack_from("<Q", content, 24)
        self.filter, = struct.unpack_from("<Q", content, 72)

    def stack_at(self):
        """Returns where the count of branches is in a sample; None: it has none."""
        if not self.sample_type & STACK:
            return None
        if self.sample_type & (READ | CALLCHAIN | RAW):
            raise ValueError("samples with counts, call chains or raw data")
        return 8 + 8 * sum(bool(self.sample_type & bit) for bit in PLAIN)


def attrs(content):
    """Returns {id: Attr} of all events. An only one may have no id: None."""
    size, offset, length = struct.unpack_from("<3Q", content, 16)
    found = {}
    for at in range(offset, offset + length, size):
        attr = Attr(content[at:at + size])
        ids, count = struct.unpack_from("<2Q", content, at + size - 16)
        for number in struct.unpack_from(f"<{count // 8}Q", content, ids):
            found[number] = attr
        found.setdefault(None, attr)
    return found


class Errata:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = collections.Counter()

    def happens(self, what, share):
        happened = self.random.random() < share
        self.counts[what] += happened
        return happened

    def stack(self, entries):
        """entries: newest first; returns what is recorded of them."""
        recorded = []
        if entries and self.happens("copied", COPIED):
            entries = [entries[0], *entries[:-1]]
        for begin, end, flags in entries:
            self.counts["branches"] += 1
            if self.happens("dropped", DROPPED):
                continue
            if self.happens("mispredicted", MISPREDICTED):
                flags = flags & ~FLAG_PREDICTED | FLAG_MISPREDICTED
            if self.happens("aborted", ABORTED):
                flags |= FLAG_ABORT
            recorded.append((begin, end, flags))
        return recorded

    def sample(self, record, known):
        """Returns a sample with an altered stack."""
        identifier, = struct.unpack_from("<Q", record, 8)
        attr = known.get(identifier, known[None])
        at = attr.stack_at()
        if at is None:
            return record
        first = at + 8 + 8 * bool(attr.filter & HW_INDEX)
        count, = struct.unpack_from("<Q", record, at)
        end = first + count * ENTRY.size
        entries = self.stack(list(ENTRY.iter_unpack(record[first:end])))
        self.counts["stacks"] += 1
        altered = (record[:at] + struct.pack("<Q", len(entries)) +
                   record[at + 8:first] +
                   b"".join(ENTRY.pack(*entry) for entry in entries) +
                   record[end:])
        return altered[:6] + struct.pack("<H", len(altered)) + altered[8:]


def records(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<H", data, at + 6)
        yield data[at:at + size]
        at += size


def moved_sections(content, start, shift):
    """Returns what is behind the data, to be so many bytes further back."""
    rest = bytearray(content[start:])
    bits = int.from_bytes(content[72:104], "little")
    features = [bit for bit in range(256) if bits >> bit & 1]
    for i, feature in enumerate(features):
        offset, size = struct.unpack_from("<2Q", rest, 16 * i)
        struct.pack_into("<Q", rest, 16 * i, offset + shift)
        if feature == CPUID and size >= 5 + len(CPU):
            name = offset - start + 4
            rest[name:name + size - 4] = CPU.ljust(size - 4, b"\0")
    return bytes(rest)


def alter(source, target, seed=1):
    """Writes the altered recording. Returns how much of what there is."""
    content = source.read_bytes()
    offset, size = struct.unpack_from("<2Q", content, 40)
    known, errata = attrs(content), Errata(seed)
    data = b"".join(
        errata.sample(record, known)
        if struct.unpack_from("<I", record)[0] == SAMPLE else record
        for record in records(content[offset:offset + size]))
    target.write_bytes(
        content[:48] + struct.pack("<Q", len(data)) + content[56:offset] +
        data + moved_sections(content, offset + size, len(data) - size))
    return errata.counts
