# SPDX-License-Identifier: GPL-2.0-only
"""Compares loops from windows with exact loops, like tests/accuracy/windows, but from
recordings.
"""
import json
import pathlib
import subprocess

TOOL = pathlib.Path(__file__).resolve().parents[2] / "build/hwprof"


KERNEL_IS_AWAY = ("could not be read", "are of unknown kinds",
                  "no symbols of [kernel]")


class Loops:
    """The loops of a program in a report, by place."""

    def __init__(self, *command, comm=None):
        text = subprocess.run([TOOL, *command, "--json", "--full-path"],
                              check=True, stdout=subprocess.PIPE).stdout
        said = json.loads(text)
        self.totals, self.warnings = said["totals"], said["warnings"]
        self.found = {(loop["object"], loop["head"]): loop
                      for loop in said["loops"]
                      if comm in (None, loop.get("comm"))}

    def missing(self, way):
        """Returns a line for each loss and warning. Without the kernel's code, replay
        warns that it cannot name it, nor tell all kinds of its branches.
        """
        return [f"{way}: {self.totals[key]} {key}"
                for key in ("lost", "evicted", "pending", "lost_records")
                if self.totals[key]
                ] + [f"{way}: {warning}" for warning in self.warnings
                     if way != "replay" or not any(
                         known in warning for known in KERNEL_IS_AWAY)]


def exact_trip(loop):
    return loop["trip"] if loop["trip"] is not None else float("inf")


def wide(loop, factor):
    return loop["trip_low"] is None or loop["trip_high"] > factor * loop["trip_low"]


class Verdict:
    """Compares estimated loops with exact ones: like tests/accuracy/windows."""

    def __init__(self, exact, estimated):
        self.exact, self.estimated = exact, estimated
        self.both = sorted(set(exact) & set(estimated))
        self.strange = sorted(set(estimated) - set(exact))
        self.of_10 = [place for place in self.both
                      if estimated[place]["entries_seen"] >= 10]
        self.unknown = [place for place in self.of_10
                        if estimated[place]["trip_low"] is None]
        self.outside = [place for place in self.of_10 if self.is_outside(place)]
        self.of_30, self.wide_30 = self.too_wide(30, 2.5)
        self.of_100, self.wide_100 = self.too_wide(100, 1.5)
        self.unseen = 1 - (sum(exact[place]["iterations"] for place in self.both) /
                           sum(loop["iterations"] for loop in exact.values()))
        self.trip_error = self.judge_trips()
        self.iterations_off = self.share_off(
            lambda loop: loop["iterations"],
            lambda loop: loop["entries_seen"] + loop["back_edges_seen"])
        self.entries_off = self.share_off(lambda loop: loop["entries"],
                                          lambda loop: loop["entries_seen"])

    def is_outside(self, place):
        loop = self.estimated[place]
        return loop["trip_low"] is not None and not (
            loop["trip_low"] <= exact_trip(self.exact[place])
            <= loop["trip_high"])

    def too_wide(self, entries, factor):
        seen = [place for place in self.of_10
                if self.estimated[place]["entries_seen"] >= entries]
        return seen, [place for place in seen
                      if wide(self.estimated[place], factor)]

    def judge_trips(self):
        total = sum(loop["iterations"] for loop in self.exact.values())
        error = weight = covered = 0
        for place in sorted(self.both, key=lambda place:
                            -self.exact[place]["iterations"]):
            loop, seen = self.exact[place], self.estimated[place]
            if covered >= 0.9 * total:
                break
            covered += loop["iterations"]
            if seen["entries_seen"] < 100 or not loop["entries"]:
                continue
            weight += loop["iterations"]
            error += loop["iterations"] * abs(seen["trip"] - loop["trip"]
                                              ) / loop["trip"]
        return error / weight if weight else 0

    def share_off(self, true, seen):
        """Returns the worst difference of shares in the total of the loops seen, and its
        place.
        """
        whole = sum(true(self.exact[place]) for place in self.both)
        parts = sum(map(seen, self.estimated.values()))
        return max((abs((true(self.exact[place]) / whole
                         if place in self.exact else 0) -
                        seen(loop) / parts), place)
                   for place, loop in self.estimated.items())

    def wrong(self, by_time=False):
        """Returns a line for each broken promise. Windows that a time counter takes do not
        give shares of branches.
        """
        limits = [("trip counts of loops with 100 entries", self.trip_error,
                   0.05, ""),
                  ("shares of iterations", self.iterations_off[0], 0.03,
                   f", at {' '.join(self.iterations_off[1])}"),
                  ("shares of entries", self.entries_off[0], 0.03,
                   f", at {' '.join(self.entries_off[1])}")]
        if by_time:
            del limits[1:]
        return [f"{what} are off by {100 * value:.2f} %, at most "
                f"{100 * most:.0f} % is allowed{where}"
                for what, value, most, where in limits if not value <= most]

    def line(self, place):
        loop, exact = self.estimated[place], self.exact.get(place)
        true = f"{exact_trip(exact):.3f}" if exact else "none"
        return (f"{' '.join(place)}: {true}, seen {loop['back_edges_seen']} + "
                f"{loop['entries_seen']}: {loop['trip'] or 0:.3f} "
                f"[{loop['trip_low'] or 0:.3f} {loop['trip_high'] or 0:.3f}]")

    def row(self):
        known = len(self.of_10) - len(self.unknown)
        return (f"{100 * self.trip_error:5.2f} % "
                f"{known - len(self.outside):5}/{known:<4} "
                f"{len(self.unknown):7} "
                f"{len(self.wide_30):5}/{len(self.of_30):<4} "
                f"{len(self.wide_100):5}/{len(self.of_100):<4} "
                f"{100 * self.iterations_off[0]:7.2f} "
                f"{100 * self.entries_off[0]:7.2f} "
                f"{100 * self.unseen:6.2f} {len(self.strange):6}")


def check_share(tap, wrong, count, most, what):
    """Checks that at most this share of so many loops is wrong."""
    beyond = not count or len(wrong) > most * count
    tap.check([f"{len(wrong)} of {count}:", *wrong] if beyond else [],
              f"{what}, in {count - len(wrong)} of {count} loops")
