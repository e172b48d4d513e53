# Fetches packages into the cache. Scripts source this file. It installs nothing.

# Two lines for the mirror: the release (for libraries that the machine may lack) and its backports
sources() {
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		awk -v options="[signed-by=$keys]" '$1 == "bookworm" && !seen[$2]++ {
			print "deb", options, $2, "bookworm main"
			print "deb", options, $2, "bookworm-backports main"
		}'
}

# Options for apt; empty: the system's configuration
APT=()

# use_backports FOLDER: makes apt keep its lists and downloads in FOLDER. Its only sources are the release and the backports, on
# the mirror that the system uses. Packages of the system count as installed. A system that has no sources of that release keeps
# its configuration.
use_backports() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	sources >"$1/sources.list"
	[ -s "$1/sources.list" ] || return 0
	APT=(-o Dir::Etc::SourceList="$1/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$1/lists"
		-o Dir::Cache="$1/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
	apt-get "${APT[@]}" -q update
}
