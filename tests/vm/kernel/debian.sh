# SPDX-License-Identifier: GPL-2.0-only
# A kernel out of Debian's linux-image package.  Sourced by ./get, which sets
# release and version.

# unpack_kernel BZIMAGE: the ELF file in it.  Started at its PVH entry it boots
# without a BIOS and, what takes longer in emulation, without decompressing.
unpack_kernel()
{
	number()
	{
		od -An -t "u$2" -j "$1" -N "$2" "$image" | tr -d ' '
	}
	image=$1
	# Fields of the boot header; the payload ends in its unpacked length.
	setup_sectors=$(number 0x1f1 1)
	offset=$(number 0x248 4)
	length=$(($(number 0x24c 4) - 4))
	tail -c "+$(((setup_sectors + 1) * 512 + offset + 1))" "$image" |
		head -c "$length" > "$image.payload"
	zstd -qdc "$image.payload" 2> /dev/null ||
		lz4 -dc "$image.payload" 2> /dev/null ||
		xz -dc "$image.payload" 2> /dev/null ||
		die "cannot unpack $(basename "$image")"
}

# drivers IMAGE: what modprobe would do to get the guest's console
drivers()
{
	depmod -b "$1" "$release" 2> /dev/null
	for module in virtio_pci virtio_console; do
		modprobe -d "$1" -S "$release" --show-depends $module
	done
}

# unpack_drivers IMAGE DIR: the drivers that are no part of the kernel itself
unpack_drivers()
{
	mkdir "$2"
	drivers "$1" > "$1/drivers"
	# The others are "builtin NAME".
	sed -n 's/^insmod \([^ ]*\).*/\1/p' "$1/drivers" | awk '!seen[$0]++' |
		while read -r file; do
			cp "$file" "$2"
			basename "$file"
		done > "$2/load"
}

debian_kernel()
{
	fetch "linux-image-$release" "$version" "$1/image"
	unpack_kernel "$1/image/boot/vmlinuz-$release" > "$1/vmlinux"
	unpack_drivers "$1/image" "$1/modules"
	rm -rf "$1/image"
	echo "$release" > "$1/release"
	ln -s "/usr/src/linux-headers-$release" "$1/build"
}

# The image is not packed.  Its headers cannot be installed on this machine, but
# what they share with this machine's own is.
debian_arm64_kernel()
{
	private_apt "$1/apt" deb arm64
	fetch "linux-image-$release" "$version" "$1/image"
	fetch "linux-headers-$release" "$version" "$1/headers"
	cp "$1/image/boot/vmlinuz-$release" "$1/Image"
	unpack_drivers "$1/image" "$1/modules"
	rm -rf "$1/image" "$1/apt"
	echo "$release" > "$1/release"
	kbuild=usr/lib/linux-kbuild-${release%-cloud-*}
	mkdir "$1/headers/usr/lib"
	ln -s "/$kbuild" "$1/headers/$kbuild"
	ln -s "headers/usr/src/linux-headers-$release" "$1/build"
}
