# SPDX-License-Identifier: GPL-2.0-only
"""Hot paths and procedures of several programs, in the columns of tables 4 and 5 of
Ammons, Ball and Larus (PLDI 1997), from the sums of `report paths --json`.
"""

KINDS = "paths", "procedures"
PATHS = 32              # that have half of the metric. Of the paper's programs, at
                        # most 28 have 59 % and more,
PROCEDURES = 24         # and of hot procedures at most 24 have 44 % and more; here:
OF_PROCEDURES = 0.5

# Half of these programs' metric may be on more paths, as on those of go and
# gcc, which the paper excepts.
SPREAD = {
    "perl": "an interpreter: what it does is spread over its operators",
    "sqlite3": "it compiles to byte code, and interprets that",
}


def added(sums, heats):
    """Returns the sum of several heats."""
    return {key: sum(sums[heat][key] for heat in heats)
            for key in ("number", "paths", "branch_share", "share")}


def hot(sums):
    return added(sums, ("hot", "dense", "sparse"))


def cells(what, metric, part):
    """Yields the number, paths each of procedures or branches of paths, and the metric."""
    yield f"{part['number']:6,}"
    if what == "procedures":
        yield f"{part['paths'] / max(part['number'], 1):10.1f}"
    elif metric != "branches":
        yield f"{100 * part['branch_share']:8.1f} %"
    yield f"{100 * part['share']:6.1f} %"


def print_table(what, summaries):
    """Prints a table of summaries, which are by program's name. With branches as the
    metric, hot paths are not divided into dense and sparse.
    """
    metric = ", ".join({summary["metric"]: 0 for summary in summaries.values()})
    heats = ("hot", "cold") if metric == "branches" else ("dense", "sparse", "cold")
    second = (f" {'paths each':>10}" if what == "procedures" else
              f" {'branches':>10}" if metric != "branches" else "")
    print(f"#\n# program  {what:>10}" + "".join(
        f" | {heat:>6}{second} {metric:>8}" for heat in heats))
    for name, summary in summaries.items():
        parts = [summary[what][heat] for heat in heats]
        print(f"# {name:8} {sum(part['number'] for part in parts):10,}" + "".join(
            f" | {' '.join(cells(what, metric, part))}" for part in parts))


def wrong(name, summary):
    """Returns a line for each kind of which a few do not have most of the metric."""
    lines = []
    half = summary["paths_of_half"]
    if name not in SPREAD and (half is None or half > PATHS):
        lines.append(f"half is on more than {PATHS} paths")
    procedures = hot(summary["procedures"])
    if procedures["number"] > PROCEDURES or procedures["share"] < OF_PROCEDURES:
        lines.append(f"at most {PROCEDURES} hot procedures were to have "
                     f"{100 * OF_PROCEDURES:.0f} %")
    return lines


def said(summary):
    return (f"half of {summary['metric']} is on {summary['paths_of_half']} paths; "
            + ", ".join(f"{100 * hot(summary[what])['share']:.1f} % on "
                        f"{hot(summary[what])['number']} hot {what}"
                        for what in KINDS))
