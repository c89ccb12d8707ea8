# SPDX-License-Identifier: GPL-2.0-only
# Packages that the rig gets from Debian's archive and does not install.
# Sourced by the scripts beside it, after cache.sh.

# debian_sources deb|deb-src: the suites of Debian that this machine uses, as
# lines of a sources list
debian_sources()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		sort -u | sed -n "s|^\([^ ]*/debian[^ ]*\) \([^ ]*\)\$|$1 \1 \2 main|p"
}

# debian_mirror: where this machine gets its release of Debian from
debian_mirror()
{
	(
		. /etc/os-release
		debian_sources deb |
			sed -n "s|^deb \([^ ]*\) $VERSION_CODENAME main\$|\1|p" |
			head -n 1 | grep . ||
			die "APT has no Debian suite $VERSION_CODENAME:" \
			    "its sources list none"
	)
}

# suite_sources deb|deb-src [SUITE...]
suite_sources()
{
	if [ $# = 1 ]; then
		debian_sources "$1"
		return
	fi
	mirror=$(debian_mirror) kind=$1
	shift
	printf "$kind $mirror %s main\n" "$@"
}

# private_apt DIR deb|deb-src ARCHITECTURE [SUITE...]: from now on APT knows
# these suites of Debian, by default those that this machine uses: their
# packages for an architecture, or their sources. Its configuration is in DIR;
# the machine's is left alone.
private_apt()
{
	mkdir -p "$1/lists/partial" "$1/archives/partial"
	apt_dir=$1 kind=$2 apt_architecture=$3
	shift 3
	suite_sources "$kind" "$@" > "$apt_dir/sources.list"
	set -- "$apt_dir" "$kind" "$apt_architecture"
	[ -s "$1/sources.list" ] || die "APT has no Debian suite: its sources list none"
	: > "$1/status"		# nothing is installed
	cat > "$1/apt.conf" <<-END
		APT::Architecture "$3";
		APT::Architectures "$3";
		Dir::Etc::SourceList "$1/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$1/lists";
		Dir::State::Status "$1/status";
		Dir::Cache "$1";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
	END
	export APT_CONFIG="$1/apt.conf"
	apt-get -q=2 update
}

# fetch PACKAGE VERSION DIR: download a package and unpack it, not install it
fetch()
{
	say "downloading $1 $2"
	mkdir -p "$3"
	(
		cd "$3" || exit
		apt-get -q=2 -o APT::Sandbox::User=root download "$1=$2" ||
			die "cannot download $1 $2: if Debian has a newer one," \
			    "run apt-get update && apt-get upgrade"
		dpkg-deb -x ./*.deb .
		rm ./*.deb
	)
}

# headers_release PACKAGE: set release and version to those of the kernel that
# the installed headers meta-package stands for
headers_release()
{
	version=$(dpkg-query -W -f '${Version}' "$1" 2> /dev/null) ||
		die "the package $1 is not installed: run tests/vm/install rig"
	release=$(dpkg-query -W -f '${Depends}' "$1" |
		sed -n 's/.*linux-headers-\([0-9][^ ,]*-\(cloud\|rt\)-amd64\).*/\1/p')
	[ -n "$release" ] || die "$1 depends on no linux-headers package"
}
