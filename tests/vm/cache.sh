# SPDX-License-Identifier: GPL-2.0-only
# The cache keeps what the rig builds or downloads, under a name that contains
# the hash of everything it was made from.  Sourced by the scripts beside it.

cache_root=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hwprof

say()
{
	echo "$*" >&2
}

die()
{
	say "${0##*/}: $*"
	exit 1
}

# cache_hash FILE... [with further words on stdin]: a key of 16 digits
cache_hash()
{
	cat "$@" - | sha256sum | cut -c 1-16
}

# cache_entry NAME MAKER: print the directory NAME of the cache.  If it is not
# there, `MAKER DIR` fills an empty DIR, which gets its name only when it is
# complete; a second caller waits for the first one. With CACHE_ONLY=1 nothing
# is made: it fails.
cache_entry()
{
	entry=$cache_root/$1
	if [ ! -d "$entry" ]; then
		[ "${CACHE_ONLY:-}" != 1 ] || die "$entry is not there"
		mkdir -p "$cache_root" || die "cannot create $cache_root"
		exec 9> "$cache_root/.${1%%-*}.lock"
		flock 9
	fi
	if [ ! -d "$entry" ]; then
		# A killed run has left these: we hold the lock.
		rm -rf "$cache_root/.${1%%-*}-"*
		temp=$(mktemp -d "$cache_root/.$1.XXXXXX")
		trap 'rm -rf "$temp"' EXIT
		trap 'exit 130' INT TERM HUP
		# Not `|| exit`: it would turn the maker's own -e off.
		( "$2" "$temp" ) 9>&- >&2
		chmod 755 "$temp"
		mv "$temp" "$entry"
	fi
	echo "$entry"
}

# logged TITLE LOG COMMAND...: run a long command with its output in LOG, show
# now and then how far it is, and on failure the end of LOG. The options of the
# make that we may be run by are not its own: -s would hide how far it is.
logged()
{
	title=$1 log=$2 start=$(date +%s)
	shift 2
	say "$title ..."
	(unset MAKEFLAGS MFLAGS; "$@") > "$log" 2>&1 9>&- &
	job=$!
	while kill -0 $job 2> /dev/null; do
		sleep 1
		now=$(($(date +%s) - start))
		if [ $((now % 20)) = 0 ]; then
			say "  ${now} s: $(tail -n 1 "$log" | cut -c 1-70)"
		fi
	done
	if ! wait $job; then
		tail -n 30 "$log" >&2
		die "$title: failed, see the lines above"
	fi
	say "$title: done in $(($(date +%s) - start)) s"
}

# apply_patches SERIES DIR: the patches that SERIES lists, to the source in DIR
apply_patches()
{
	while read -r patch; do
		patch -d "$2" -p1 -s -F2 < "$(dirname "$1")/$patch" ||
			die "$patch does not apply to this version of the source"
	done < "$1"
}
