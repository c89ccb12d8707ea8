# SPDX-License-Identifier: GPL-2.0-only
# A kernel of another release of Debian than this machine's, whose programs
# build modules for it.  Sourced by ./get, which sets here, tools, suites and
# package.

# newest_release: set release and version to those of the newest kernel whose
# headers are called $package
newest_release()
{
	pattern=$(echo "$package" | sed 's/[.+]/\\&/g; s/\*/.*/')
	name=$(apt-cache pkgnames | grep -x "$pattern" | sort -V | tail -n 1)
	[ "$name" ] || die "$suites have no $package any more: change the line in" \
		"tests/vm/kernel/kernels, as docs/kernels.md says"
	release=${name#linux-headers-}
	version=$(apt-cache show --no-all-versions "$name" |
		sed -n 's/^Version: //p')
}

# prepare_sparse DIR: Debian leaves out the script that says whether sparse is
# good enough; without it C=2 checks nothing.  Sparse does not know two words of
# newer headers.
prepare_sparse()
{
	script=$1/usr/src/linux-headers-$common-common/scripts/checker-valid.sh
	[ -e "$script" ] || printf '#!/bin/sh\necho 1\n' > "$script"
	mkdir -p "$1/usr/local/bin"
	cat > "$1/usr/local/bin/sparse" <<-'END'
		#!/bin/sh
		exec /usr/bin/sparse '-D__typeof_unqual__=__typeof__' \
			'-D__builtin_strlen(text)=(sizeof(text) - 1)' "$@"
	END
	chmod 755 "$script" "$1/usr/local/bin/sparse"
}

# fetch_headers DIR: what builds modules, at its place under DIR
fetch_headers()
{
	common=${release%-cloud-amd64}
	for name in headers-$release headers-$common-common kbuild-$common; do
		fetch "linux-$name" "$version" "$1"
	done
	rm -rf "$1/usr/share" "$1/usr/lib/modules"
	prepare_sparse "$1"
}

# write_makefile DIR: what `make -C DIR M=... modules` does, by way of ./enter
write_makefile()
{
	cp "$here/enter" "$1"
	command="make -C /usr/src/linux-headers-$release M=/module"
	printf '%s\n' "modules clean:" \
		"	+@\"\$(CURDIR)/enter\" \"\$(M)\" $command \$@" \
		".PHONY: modules clean" > "$1/Makefile"
}

foreign_kernel()
{
	private_apt "$1/apt" deb amd64 $(echo "$suites" | tr , ' ')
	newest_release
	# modules.builtin, in linux-base, has the drivers that the guest needs.
	for name in binary-unsigned base; do
		fetch "linux-$name-$release" "$version" "$1/image"
	done
	ln -s usr/lib "$1/image/lib"
	unpack_kernel "$1/image/lib/modules/$release/vmlinuz.unsigned" > "$1/vmlinux"
	unpack_drivers "$1/image" "$1/modules"
	echo "$release" > "$1/release"
	mkdir -p "$1/build/place"
	fetch_headers "$1/build/headers"
	ln -s "$tools" "$1/build/root"
	write_makefile "$1/build"
	rm -rf "$1/image" "$1/apt"
}
