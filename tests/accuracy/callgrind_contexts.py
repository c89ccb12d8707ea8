# SPDX-License-Identifier: GPL-2.0-only
"""Calling contexts from a callgrind profile.

The profile must come from callgrind.run(..., *OPTIONS), of a program whose stack is
nowhere as deep as DEPTH. Then a function's name has all its callers behind it,
separated by '. docs/contexts.md differs from callgrind:

  A jump to another function is a call there; here it stays in the frame.
  An entry of a PLT is a function there; here the call leads to where it jumps.
  Recursion makes contexts of its own there, unless a function calls itself;
  here a procedure is on a chain once.
"""
import os
from collections import Counter, defaultdict

import disasm

DEPTH = 400
OPTIONS = (f"--separate-callers={DEPTH}", "--separate-recs=1")
THREAD = "clone"        # where all but the first begin
CALL, STUB = "call", "stub"
ENDBR64 = 4             # bytes


def read(path):
    """Returns how often control went from one context to another, by place.

    It is a Counter of (caller, callee, site, target); a context is a name, and a place
    an (object, address).
    """
    edges = Counter()
    ob = fn = cob = cfn = call = None
    with open(path) as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                ob = value
            elif key == "fn":
                fn = value
                if fn.count("'") >= DEPTH - 1:
                    raise ValueError(f"{path}: a stack is too deep for DEPTH")
            elif key == "cob":
                cob = value
            elif key == "cfn":
                cfn = value
            elif key == "calls":
                count, target = value.split()[:2]
                call = int(count), (cob or ob, int(target, 16))
            elif call and line.startswith("0x"):
                site = ob, int(line.split()[0], 16)
                edges[fn, cfn, site, call[1]] += call[0]
                call = cob = None
    return edges


def is_stub(place):
    """Tells whether the place begins with an indirect jump, like an entry of a PLT, or
    belongs to the object ???.
    """
    path, address = place
    return not os.path.isfile(path) or any(
        disasm.kind(path, at) == "jump" and disasm.of(path).target(at) is None
        for at in (address, address + ENDBR64))


class Contexts:
    """The tree of a profile, folded like hwprof's.

    calls[chain, callee]: how often a chain of procedures, outermost first, called the
    callee, which may be on the chain. unsure: those of the calls that may belong to
    other contexts. callgrind has one context for a function that was both called and
    jumped to, or for two entries of a function. threads: the procedures that threads
    begin with.
    """

    def __init__(self, path):
        self.calls = Counter()
        self.unsure = set()
        self.threads = set()
        self.callees = defaultdict(list)
        called_ones = set()
        for (caller, callee, site, target), count in read(path).items():
            self.callees[caller].append((callee, site, target, count))
            if callee != caller:
                called_ones.add(callee)
        for root in sorted(set(self.callees) - called_ones):
            self.walk(root)
            if root.startswith(THREAD):
                self.threads |= {target for _, how, target, _ in
                                 self.edges(root, None) if how == CALL}

    def walk(self, root):
        """Counts the contexts below root.

        todo: a context; its chain; how it was entered, if by a stub; and whether all of
        that is sure.
        """
        todo = [(root, (), None, True)]
        while todo:
            context, chain, through, sure = todo.pop()
            places = defaultdict(set)
            for callee, how, target, _ in self.edges(context, through):
                if how == CALL:
                    places[callee].add((called(chain, target), None))
                else:
                    places[callee].add((chain, CALL if how == STUB else None))
            # A function that was jumped to calls itself.
            again = places.pop(context, set()) - {(chain, through)}
            if again and sure:
                sure = False
                todo += [(context, *place, False) for place in again]
            self.count(context, chain, through, sure)
            for callee, found in places.items():
                todo += [(callee, *place, sure and len(found) == 1)
                         for place in found]

    def edges(self, context, through):
        """Yields the calls of a context. A stub leads to one procedure, whose own code may
        be that of a stub.
        """
        for callee, site, target, count in self.callees[context]:
            how = through or disasm.kind(*site)
            if how == CALL and not through and is_stub(target):
                how = STUB
            yield callee, how, target, count

    def count(self, context, chain, through, sure):
        for _, how, target, count in self.edges(context, through):
            if how == CALL:
                self.calls[chain, target] += count
                if not sure:
                    self.unsure.add((chain, target))


def called(chain, callee):
    """Returns the chain of a procedure that this call begins."""
    if callee in chain:
        return chain[:chain.index(callee) + 1]
    return *chain, callee
