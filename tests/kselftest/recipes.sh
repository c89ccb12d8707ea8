#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs each command of docs/recipes.md and compares its output with the page's.
#
# A command is a line with "$ " in a block of code; the lines below it are its
# output, in which "..." stands for any lines. Blanks count once.
#
# Numbers that differ from run to run are not compared: in the tool's messages,
# in shares at the start of a line, in the account, and of random addresses. In
# output behind a line <!-- estimates --> no number is. Commands behind a line
# <!-- needs a PMU --> are skipped where there is none.
. "${0%/*}/tap.sh"
needs step
rest_is_no_news

page=$PWD/recipes/recipes.md
work=/tmp/recipes
counted=cache-misses

# perf keeps binaries in .debug there, unless it is given another folder.
export HOME=$work
unset PERF_BUILDID_DIR

# The page's own commands built the programs, where there is a compiler.
mkdir -p $work && cp -r recipes/* $work && cd $work || exit 1

# Splits the page: N.command, N.expected, N.title and N.mark for each command.
split_page()
{
	awk '
	/^<!-- / { mark = $0 }
	/^## / { title = substr($0, 4) }
	/^$/ { if (text) print "" > (n ".expected"); next }
	!/^    / { text = 0; if (!/^<!-- /) mark = ""; next }
	{ line = substr($0, 5) }
	line ~ /^\$ / {
		text = 0
		if (line ~ /^\$ cc /)
			next
		n++
		print substr(line, 3) > (n ".command")
		print title > (n ".title")
		print mark > (n ".mark")
		printf "" > (n ".expected")
		text = 1
		next
	}
	text { print line > (n ".expected") }
	END { print n > "commands" }' "$page"
}

# plain FILE: removes what varies between runs
plain()
{
	if grep -q 'estimates\|PMU' "$number.mark"; then
		numbers='s/[0-9][0-9.,]*%?/N/g'
	else
		numbers='/^hwprof: /s/[0-9][0-9.,]*/N/g'
	fi
	# A busy machine takes over ten seconds, and then there is progress.
	sed -E '/^hwprof: .* s, stepping /d
		s/0x[0-9a-f]{9,}/ADDRESS/g; s/[ 	]+/ /g; s/^ //; s/ $//
		s/^[0-9.]+%/SHARE/
		s/^[0-9,]+ (.* = )[0-9,]+ delivered/N \1N delivered/
		'"$numbers; s/$counted/cache-misses/" "$1" | grep .
}

# is_as_told: checks that all lines of the page occur, in this order
is_as_told()
{
	plain $number.expected > wanted
	plain $number.output > got
	awk '
	NR == FNR { wanted[++count] = $0; next }
	BEGIN { at = 1 }
	{
		while (wanted[at] == "...") { skip = 1; at++ }
		if (at <= count && $0 == wanted[at]) { at++; skip = 0; next }
		if (!skip) { print "not on the page: " $0; wrong = 1; exit }
	}
	END {
		while (wanted[at] == "...")
			at++
		if (at <= count && !wrong) {
			print "not in the output: " wanted[at]
			wrong = 1
		}
		exit wrong
	}' wanted got
}

# runs: runs command $number, and checks that it prints what the page shows
runs()
{
	sed "s/cache-misses/$counted/g" $number.command > run.sh
	PATH=$PATH:. sh -e run.sh > $number.output 2>&1
	status=$?
	sed 's/^/got: /' $number.output
	if [ $status = 0 ] && is_as_told > verdict; then
		return
	fi
	echo "status $status"
	cat verdict
	return 1
}

# There are counters, though perhaps not this one.
has_pmu()
{
	grep -q '^[1-9]' $caps/counters
}

split_page
# The PMU of an emulated machine does not count cache misses.
perf stat -x, -e $counted:u true 2>&1 | grep -q '^[0-9]' || counted=instructions
test_ok "recipes: the page has commands" [ "$(cat commands)" -ge 12 ]
number=1
while [ $number -le "$(cat commands)" ]; do
	title="recipes: $(cat $number.title): $(cut -c 1-60 $number.command)"
	if grep -q PMU $number.mark && ! has_pmu; then
		skip "$title" "no counters"
	else
		test_ok "$title" runs
	fi
	number=$((number + 1))
done
finish
