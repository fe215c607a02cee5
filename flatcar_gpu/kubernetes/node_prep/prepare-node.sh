#!/bin/sh
# Brings a running Flatcar node to the state that Ignition gives a new one, or takes it back.
#
#   prepare-node.sh apply ROOT SOURCE
#   prepare-node.sh remove ROOT
#
# ROOT is the node's root folder, `/` on the node itself. SOURCE holds `steps`, and what they install below `files`:
#
#   directory PATH MODE
#   file PATH MODE               nothing but the same file may be there
#   replace PATH MODE            what is there gives way, and comes back with `remove`
#   fetch PATH MODE URL [HASH]   the same as file; HASH is sha256-HEX or sha512-HEX
#   link PATH TARGET
#   enable UNIT                  and start it
#
# What it did is recorded below /var/lib/flatcar-gpu/node-prep of the node. Exits 0 where the node is as asked.
set -euf

usage() {
    echo "usage: prepare-node.sh apply ROOT SOURCE | prepare-node.sh remove ROOT" >&2
    exit 2
}

case ${1-}:$# in
apply:3)
    steps=$3/steps
    [ -r "$steps" ] || usage
    ;;
remove:2) steps=/dev/null ;;
*) usage ;;
esac
root=${2%/}
source=${3-}
[ -d "$root/etc" ] || usage

state_folder=/var/lib/flatcar-gpu/node-prep
state=$root$state_folder
record=$state/record
new=flatcar-gpu-new
changes=0
failures=0

say() {
    echo "prepare-node: $*"
}

did() {
    changes=$((changes + 1))
    say "$*"
}

failed() {
    failures=$((failures + 1))
    say "failed: $*"
}

# Runs a program of the node. env finds it there: a busybox may prefer its own. systemd's tools would take the chroot for a
# system that is being built.
host() {
    chroot "${root:-/}" /usr/bin/env SYSTEMD_IGNORE_CHROOT=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# The record: lines `KIND NAME VALUE`. put: a file or link of ours, with its fingerprint. made: a folder of ours.
# enabled: a unit. stopping: a unit that is to stop.

recorded() (
    while read -r kind name value; do
        if [ "$kind $name" = "$1 $2" ]; then
            echo "$value"
            exit 0
        fi
    done <"$record"
    exit 1
)

forget() (
    while read -r kind name value; do
        [ "$kind $name" = "$1 $2" ] || echo "$kind $name $value"
    done <"$record" >"$record.new"
    mv "$record.new" "$record"
)

remember() {
    forget "$1" "$2"
    echo "$1 $2 ${3-}" >>"$record"
}

# What has to follow a change is noted before it, so that it is made up for if this run ends in between.

later() {
    mkdir -p "$state/pending"
    cat "$root/proc/sys/kernel/random/boot_id" >"$state/pending/$1"
}

is_pending() {
    [ -e "$state/pending/$1" ]
}

no_longer_pending() {
    rm -f "$state/pending/$1"
}

changing() {
    case $1 in
    /etc/containerd/*) later containerd ;;
    /etc/systemd/system/containerd.service.d/*)
        later daemon-reload
        later containerd
        ;;
    /etc/systemd/system/*) later daemon-reload ;;
    /etc/flatcar/update.conf) later update-engine ;;
    # Flatcar fetches and merges its extensions, and builds its driver, when it boots.
    /etc/extensions/* | /etc/flatcar/enabled-sysext.conf | /etc/flatcar/nvidia-metadata) later reboot ;;
    esac
}

# Nothing where nothing is.
fingerprint() {
    if [ -L "$1" ]; then
        echo "link:$(readlink "$1")"
    elif [ -f "$1" ]; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif [ -e "$1" ]; then
        echo other
    fi
}

# What a step wants to be at its path. Of a file to fetch it is known only with a sha256; else a file of that name, which
# has the version in it, will do.
wanted_fingerprint() {
    case $1 in
    link) echo "link:$3" ;;
    fetch)
        case ${5-} in
        sha256-*) echo "${5#sha256-}" ;;
        *) fingerprint "$root$2" ;;
        esac
        ;;
    *) fingerprint "$source/files$2" ;;
    esac
}

# What is at path $1, compared with the wanted fingerprint $2: absent, same, ours, changed (ours once) or foreign.
state_of() {
    found=$(fingerprint "$root$1")
    if [ -z "$found" ]; then
        echo absent
    elif [ "$found" = "$2" ]; then
        echo same
    elif mine=$(recorded put "$1"); then
        if [ "$found" = "$mine" ]; then echo ours; else echo changed; fi
    else
        echo foreign
    fi
}

find_conflicts() {
    while read -r kind path value more; do
        case $kind in
        enable | replace) ;;
        directory)
            if [ -e "$root$path" ] && [ ! -d "$root$path" ]; then
                failed "$path is there and no directory"
            fi
            ;;
        *)
            # shellcheck disable=SC2086  # URL and hash are words of their own
            if [ "$(state_of "$path" "$(wanted_fingerprint "$kind" "$path" "$value" $more)")" = foreign ]; then
                failed "$path is there with other contents"
            fi
            ;;
        esac
    done <"$steps"
    if [ "$failures" -gt 0 ]; then
        say "nothing was changed; move these away, or leave out what needs them"
        exit 1
    fi
}

make_folder() {
    if [ -z "$1" ] || [ -d "$root$1" ]; then
        return 0
    fi
    make_folder "${1%/*}" 0755
    remember made "$1"
    mkdir -m "$2" "$root$1"
    did "made $1"
}

# Writes what a step wants beside its path.
write_new() {
    rm -f "$root$2.$new"
    case $1 in
    link) ln -s "$3" "$root$2.$new" ;;
    fetch)
        host curl --fail --silent --show-error --location --retry 3 --output "$2.$new" "$4" &&
            verify "$root$2.$new" "${5-}" && chmod "$3" "$root$2.$new"
        ;;
    *) cp "$source/files$2" "$root$2.$new" && chmod "$3" "$root$2.$new" ;;
    esac
}

verify() {
    case $2 in
    '') return 0 ;;
    sha512-*) sum=$(sha512sum <"$1") ;;
    *) sum=$(sha256sum <"$1") ;;
    esac
    [ "${sum%% *}" = "${2#*-}" ] || { say "$1 has the hash ${sum%% *}" && return 1; }
}

# Arguments: the words of a step.
put() {
    found=$(state_of "$2" "$(wanted_fingerprint "$@")")
    case $found in
    same) return 0 ;;
    changed)
        say "left $2: it was changed since it was installed"
        return 0
        ;;
    foreign) keep_replaced "$2" ;;
    esac
    make_folder "${2%/*}" 0755
    if ! write_new "$@"; then
        rm -f "$root$2.$new"
        failed "$2 is not installed"
        return 0
    fi
    changing "$2"
    remember put "$2" "$(fingerprint "$root$2.$new")"
    # -T: a link to a folder is replaced, nothing is moved into it.
    mv -T "$root$2.$new" "$root$2"
    did "installed $2"
}

keep_replaced() {
    mkdir -p "$state/replaced${1%/*}"
    cp -P -p "$root$1" "$state/replaced$1"
    say "kept $1 as it was in $state_folder/replaced"
}

put_all() {
    # shellcheck disable=SC2086  # URL and hash are words of their own
    while read -r kind path value more; do
        case $kind in
        directory) make_folder "$path" "$value" ;;
        enable) ;;
        *) put "$kind" "$path" "$value" $more ;;
        esac
    done <"$steps"
}

# Whether the steps still ask for what the record has as kind $1 and name $2.
is_asked_for() (
    while read -r kind name _; do
        case $1:$kind:$name in
        enabled:enable:"$2" | stopping:enable:"$2" | put:*:"$2") exit 0 ;;
        made:*:"$2" | made:*:"$2"/*) exit 0 ;;
        esac
    done <"$steps"
    exit 1
)

# Takes back entries of kind $1 that are no longer asked for, last ones first.
take_back() {
    sed '1!G;h;$!d' "$record" >"$record.reversed"
    while read -r kind name value; do
        if [ "$kind" = "$1" ] && ! is_asked_for "$kind" "$name"; then
            "take_back_$kind" "$name" "$value"
        fi
    done <"$record.reversed"
    rm -f "$record.reversed"
}

take_back_enabled() {
    # It is stopped when nothing is there any more that starts it again.
    remember stopping "$1"
    host systemctl disable --quiet "$1"
    forget enabled "$1"
    did "disabled $1"
}

take_back_put() {
    found=$(fingerprint "$root$1")
    if [ -n "$found" ] && [ "$found" != "$2" ]; then
        say "left $1: it was changed since it was installed"
    elif [ -n "$found" ]; then
        changing "$1"
        if [ -e "$state/replaced$1" ] || [ -L "$state/replaced$1" ]; then
            mv -T "$state/replaced$1" "$root$1"
            did "restored $1"
        else
            rm "$root$1"
            did "removed $1"
        fi
    fi
    forget put "$1"
}

take_back_stopping() {
    if host systemctl stop "$1"; then
        # An earlier try may have failed.
        host systemctl reset-failed "$1" 2>/dev/null || :
        forget stopping "$1"
        did "stopped $1"
    else
        failed "$1 is in use; it is gone after the next boot, or run this again when nothing uses it"
    fi
}

take_back_made() {
    # An overlay leaves these two in its work directory.
    rmdir "$root$1/work" "$root$1/index" 2>/dev/null || :
    if rmdir "$root$1" 2>/dev/null; then
        did "removed $1"
    elif [ -d "$root$1" ]; then
        say "left $1: it is not empty"
    fi
    forget made "$1"
}

reload_systemd() {
    if is_pending daemon-reload; then
        host systemctl daemon-reload
        no_longer_pending daemon-reload
    fi
}

restart_where_it_runs() {
    if is_pending "$1"; then
        if host systemctl is-active --quiet "$1.service"; then
            host systemctl restart "$1.service"
            did "restarted $1.service"
        fi
        no_longer_pending "$1"
    fi
}

enable_units() {
    while read -r kind unit _; do
        [ "$kind" = enable ] || continue
        forget stopping "$unit"
        if ! host systemctl is-enabled --quiet "$unit"; then
            remember enabled "$unit"
            host systemctl enable --quiet "$unit"
            did "enabled $unit"
        fi
        if ! host systemctl is-active --quiet "$unit"; then
            if host systemctl start "$unit"; then
                did "started $unit"
            else
                failed "$unit does not start"
            fi
        fi
    done <"$steps"
}

modules() {
    while read -r kind path _; do
        case $kind:$path in
        file:/etc/modules-load.d/*) grep -v -E '^[[:space:]]*([#;]|$)' "$root$path" || : ;;
        esac
    done <"$steps"
}

load_modules() {
    for module in $(modules); do
        loaded=$root/sys/module/$(echo "$module" | tr - _)
        was_loaded=no
        [ ! -d "$loaded" ] || was_loaded=yes
        if ! host modprobe "$module"; then
            failed "kernel module $module cannot be loaded"
        elif [ "$was_loaded" = no ] && [ -d "$loaded" ]; then
            did "loaded $module"
        fi
    done
}

# The rest says how the node is, whoever made it so.

check_mounts() {
    while read -r kind unit _; do
        case $kind:$unit in
        enable:*.mount) ;;
        *) continue ;;
        esac
        where=$(host systemctl show --property Where --value "$unit")
        # A mount unit may be active and yet be hidden by a merge of system extensions.
        if (: >"$root$where/.$new") 2>/dev/null; then
            rm -f "$root$where/.$new"
            say "status: $where is writable"
        else
            failed "$where is not writable although $unit is $(host systemctl is-active "$unit" || :)"
        fi
    done <"$steps"
}

check_containerd() {
    config=/etc/containerd/config.toml
    grep -q "^file $config " "$steps" || return 0
    process=$(host systemctl show --property MainPID --value containerd.service)
    if [ "${process:-0}" = 0 ]; then
        say "status: containerd.service does not run"
    elif tr '\0' ' ' <"$root/proc/$process/cmdline" | grep -q -- "--config[ =]$config "; then
        say "status: containerd reads $config"
    else
        failed "containerd does not read $config: see \`systemctl cat containerd.service\` for what overrides its drop-in"
    fi
}

warn_of_the_past() {
    if grep -q '^link /etc/systemd/system/nvidia.service ' "$steps" && [ -e "$root/opt/nvidia/current" ]; then
        say "warning: nvidia.service has built a driver in /opt/nvidia; if it is loaded, boot the node before another starts"
    fi
    if grep -q '^replace /etc/flatcar/update.conf ' "$steps" && [ -e "$root/run/reboot-required" ]; then
        say "warning: an update is staged and becomes active at the next boot"
    fi
    if is_pending reboot; then
        if [ "$(cat "$state/pending/reboot")" = "$(cat "$root/proc/sys/kernel/random/boot_id")" ]; then
            say "status: boot the node to finish: system extensions and the driver change at boot"
        else
            no_longer_pending reboot
        fi
    fi
}

conclude() {
    if [ "$failures" -gt 0 ]; then
        say "not done: $changes changes, $failures failed"
        exit 1
    elif [ "$changes" -eq 0 ]; then
        say "nothing to change"
    else
        say "done, $changes changes"
    fi
}

mkdir -p "$state"
[ -e "$record" ] || : >"$record"

find_conflicts
take_back enabled
take_back put
put_all
reload_systemd
take_back stopping
[ "$failures" -gt 0 ] || take_back made
load_modules
enable_units
restart_where_it_runs containerd
restart_where_it_runs update-engine
check_mounts
check_containerd
warn_of_the_past

if [ ! -s "$record" ]; then
    rm -rf "$record" "$state/pending"
    # What was replaced and could not be restored stays.
    find "$state" -depth -type d -exec rmdir {} \; 2>/dev/null || :
    rmdir "$root${state_folder%/*}" 2>/dev/null || :
fi
conclude
