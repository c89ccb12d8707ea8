# SPDX-License-Identifier: GPL-2.0-only
"""Hot paths and procedures of several programs, in the columns of tables 4 and 5 of
Ammons, Ball and Larus (PLDI 1997), from what `report paths --json` sums up."""

KINDS = "paths", "procedures"
PATHS = 32              # that have half of the metric. Of the paper's programs, at
                        # most 28 have 59 % and more,
PROCEDURES = 24         # and of hot procedures at most 24 have 44 % and more; here:
OF_PROCEDURES = 0.5

# Of which half may be on more, as on those of go and gcc, which the paper excepts.
SPREAD = {
    "perl": "an interpreter: what it does is spread over its operators",
    "sqlite3": "it compiles to byte code, and interprets that",
}


def added(sums, heats):
    """Of several heats together."""
    return {key: sum(sums[heat][key] for heat in heats)
            for key in ("number", "paths", "branch_share", "share")}


def hot(sums):
    return added(sums, ("hot", "dense", "sparse"))


def second_column(what, part):
    """Of paths their part of branches, of procedures the paths of one."""
    if what == "paths":
        return f"{100 * part['branch_share']:.1f} %"
    return f"{part['paths'] / max(part['number'], 1):.1f}"


def print_table(what, summaries):
    """summaries: by program's name. Where the metric is branches, hot ones are
    neither dense nor sparse."""
    metrics = {summary["metric"] for summary in summaries.values()}
    heats = ("hot", "cold") if metrics == {"branches"} else ("dense", "sparse", "cold")
    second = {"paths": "branches", "procedures": "paths each"}[what]
    metric = " and ".join(sorted(metrics))
    print(f"#\n# program  {what:>10}" + "".join(
        f" | {heat:>6} {second:>10} {metric:>8}" for heat in heats))
    for name, summary in summaries.items():
        parts = [summary[what][heat] for heat in heats]
        number = sum(part["number"] for part in parts)
        print(f"# {name:8} {number:10,}" + "".join(
            f" | {part['number']:6,} {second_column(what, part):>10} "
            f"{100 * part['share']:6.1f} %" for part in parts))


def wrong(name, summary):
    """A line for each kind of which few have not most of the metric."""
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
