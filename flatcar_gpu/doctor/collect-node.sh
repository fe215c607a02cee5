#!/bin/sh
# Prints what `flatcar-gpu doctor` looks at on a node, as text: `== NAME` begins a part, its lines are indented by a
# blank. It changes nothing, but for a file in /usr/local that it writes and removes at once. Neither files nor command
# lines with passwords in them are printed: of configs only the lines that matter.
#
#   collect-node.sh [ROOT]
#
# ROOT is the node's root folder, /host in a pod of `kubectl debug node/NAME`. Process 1 must be the node's.
set -u

root=${1:-/}
root=${root%/}

part() {
    printf '== %s\n' "$1"
    sed 's/^/ /'
}

yes_or_no() {
    if "$@" 2>/dev/null; then echo yes; else echo no; fi
}

can_write() (
    : >"$root/usr/local/.flatcar-gpu-doctor" && rm "$root/usr/local/.flatcar-gpu-doctor"
)

# The process called containerd, not its shims.
containerd_command_line() {
    for process in "$root"/proc/[0-9]*; do
        if [ "$(cat "$process/comm" 2>/dev/null)" = containerd ]; then
            tr '\0' ' ' <"$process/cmdline"
            echo
        fi
    done
}

# Tables of runtimes, and the few keys that decide which of them there are.
containerd_config() {
    grep -h -E '^[[:space:]]*(imports|default_runtime_name)[[:space:]]*=|^[[:space:]]*\[.*runtimes[.][^].]*\]' "$1"
}

echo 'flatcar-gpu node 1'
part os-release <"$root/etc/os-release"
uname -r | part kernel
cut -d ' ' -f 1 <"$root/proc/modules" | part modules
sed 's,.*/,,; s,\.ko.*,,; s,-,_,g' "$root/usr/lib/modules/$(uname -r)/modules.builtin" 2>/dev/null | part modules-builtin
# Mount point and file system of what is mounted below /usr, in the order of the mounts.
sed 's/^\([^ ]* \)\{4\}\([^ ]*\) .* - \([^ ]*\) .*/\2 \3/' "$root/proc/1/mountinfo" | grep '^/usr' | part mounts
yes_or_no can_write | part usr-local-writable
for unit in usr-local.mount nvidia.service; do
    file=$root/etc/systemd/system/$unit
    if [ -L "$file" ]; then
        echo "$unit -> $(readlink "$file")"
    elif [ -e "$file" ]; then
        echo "$unit"
    fi
done | part units
containerd_command_line | part containerd
for file in "$root"/etc/containerd/*.toml "$root"/etc/containerd/conf.d/*.toml "$root"/usr/share/containerd/*.toml; do
    [ -r "$file" ] || continue
    echo "# ${file#"$root"}"
    containerd_config "$file"
done | part containerd-configs
for file in /usr/bin/nvidia-smi /opt/bin/nvidia-smi /run/nvidia/driver/usr/bin/nvidia-smi; do
    [ -s "$root$file" ] && echo "$file"
done | part nvidia-smi
head -n 1 "$root/sys/module/nvidia/version" 2>/dev/null | part nvidia-module
# Of the URL of an update server not even the user name.
for file in /usr/share/flatcar/update.conf /etc/flatcar/update.conf; do
    [ -r "$root$file" ] && grep -E '^(GROUP|SERVER|REBOOT_STRATEGY)=' "$root$file"
done | sed 's,//[^/]*@,//,' | part update
yes_or_no test -e "$root/run/reboot-required" | part update-staged
echo '== end'
