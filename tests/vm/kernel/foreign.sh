# SPDX-License-Identifier: GPL-2.0-only
# A kernel of another release of Debian than this machine's, whose programs
# build modules for it.  Sourced by ./get, which sets here, arch, tools, suites
# and package.

# The compiler for arm64.  The root has its libraries: the root's own compiler
# needs the same ones.
CROSS_COMPILER="gcc-14-aarch64-linux-gnu cpp-14-aarch64-linux-gnu"
CROSS_COMPILER="$CROSS_COMPILER libgcc-14-dev-arm64-cross"
CROSS_COMPILER="$CROSS_COMPILER binutils-aarch64-linux-gnu"

# newest_of PACKAGE: print the newest version of it
newest_of()
{
	apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p'
}

# newest_release: set release and version to those of the newest kernel whose
# headers are called $package
newest_release()
{
	pattern=$(echo "$package" | sed 's/[.+]/\\&/g; s/\*/.*/')
	name=$(apt-cache pkgnames | grep -x "$pattern" | sort -V | tail -n 1)
	[ "$name" ] || die "$suites have no $package any more: change the line in" \
		"tests/vm/kernel/kernels, as docs/kernels.md says"
	release=${name#linux-headers-}
	version=$(newest_of "$name")
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

# fetch_cross_builders APT DIR: this machine's programs that build modules for
# another one
fetch_cross_builders()
(
	unset APT_CONFIG
	private_apt "$1" deb amd64 $(echo "$suites" | tr , ' ')
	fetch "linux-kbuild-$common" "$version" "$2"
	for name in $CROSS_COMPILER; do
		fetch "$name" "$(newest_of "$name")" "$2"
	done
)

# fetch_headers APT DIR: what builds modules, at its place under DIR
fetch_headers()
{
	common=${release%-cloud-*}
	for name in headers-$release headers-$common-common; do
		fetch "linux-$name" "$version" "$2"
	done
	case $arch in
	x86-64) fetch "linux-kbuild-$common" "$version" "$2" ;;
	*) fetch_cross_builders "$1" "$2" ;;
	esac
	rm -rf "$2/usr/share" "$2/usr/lib/modules"
	prepare_sparse "$2"
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

# unpack_image FILE DIR: the kernel, as vm starts it
unpack_image()
{
	case $arch in
	arm64) cp "$1" "$2/Image" ;;	# is not packed
	*) unpack_kernel "$1" > "$2/vmlinux" ;;
	esac
}

foreign_kernel()
{
	private_apt "$1/apt" deb "$(echo "$arch" | sed s/x86-64/amd64/)" \
		$(echo "$suites" | tr , ' ')
	newest_release
	# modules.builtin, in linux-base, has the drivers that the guest needs.
	for name in binary-unsigned base; do
		fetch "linux-$name-$release" "$version" "$1/image"
	done
	ln -s usr/lib "$1/image/lib"
	unpack_image "$1/image/lib/modules/$release/vmlinuz.unsigned" "$1"
	unpack_drivers "$1/image" "$1/modules"
	echo "$release" > "$1/release"
	mkdir -p "$1/build/place"
	fetch_headers "$1/apt-builders" "$1/build/headers"
	ln -s "$tools" "$1/build/root"
	write_makefile "$1/build"
	rm -rf "$1/image" "$1/apt" "$1/apt-builders"
}
