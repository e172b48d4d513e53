# Packages for the cache, sourced by the scripts that fetch some. Nothing is installed.

# The mirror's line once for the release itself (libraries that the machine may lack) and once for its backports
sources() {
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg
	apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		awk -v options="[signed-by=$keys]" '$1 == "bookworm" && !seen[$2]++ {
			print "deb", options, $2, "bookworm main"
			print "deb", options, $2, "bookworm-backports main"
		}'
}

# Options for apt; none: the system's
APT=()

# use_backports FOLDER: an apt of our own: its lists and downloads lie in the folder, its only sources are the release and
# the backports of the mirror that the system already uses. Packages of the system count as installed.
use_backports() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	sources >"$1/sources.list"
	[ -s "$1/sources.list" ] || return
	APT=(-o Dir::Etc::SourceList="$1/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$1/lists"
		-o Dir::Cache="$1/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
	apt-get "${APT[@]}" -q update
}
