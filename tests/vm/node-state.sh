# shellcheck shell=sh
# Runs in the machine before a probe of node-prep: the state that Ignition and node-prep must agree on, as
# `STAGE.key=value` lines.

report() {
    printf '%s=%s\n' "$1" "$2"
}

can_write() {
    if (echo written >"$1") 2>/dev/null; then echo yes; else echo no; fi
}

module() {
    if grep -q "^$1 " /proc/modules; then
        echo loaded
    elif sed 's,.*/,,; s,\.ko.*,,; s,-,_,g' "/usr/lib/modules/$(uname -r)/modules.builtin" | grep -qx "$1"; then
        echo built in
    else
        echo absent
    fi
}

# Every file and link that either may write, with mode and contents.
files() {
    find /etc/systemd/system /etc/modules-load.d /etc/containerd /etc/flatcar ! -type d 2>/dev/null | sort |
        while read -r path; do
            if [ -L "$path" ]; then
                report "$1.file" "$path -> $(readlink "$path")"
            else
                report "$1.file" "$path $(stat --format '%a %u' "$path") $(sha256sum <"$path" | cut -d ' ' -f 1)"
            fi
        done
    for folder in /etc/containerd /opt/usr-local-overlay /opt/usr-local-overlay.wd; do
        report "$1.folder" "$folder $(stat --format '%a %u' "$folder" 2>/dev/null || echo absent)"
    done
}

state() {
    files "$1"
    report "$1.mount" "$(systemctl show -P ActiveState -P SubState usr-local.mount | tr '\n' ' ' | sed 's/ $//')"
    report "$1.mount-enabled" "$(systemctl is-enabled usr-local.mount 2>/dev/null || :)"
    report "$1.nvidia-service" "$(systemctl show -P LoadState nvidia.service)"
    report "$1.containerd" "$(tr '\0' ' ' <"/proc/$(systemctl show -P MainPID containerd.service)/cmdline")"
    for name in loop i2c_core ipmi_msghandler; do
        report "$1.module.$name" "$(module "$name")"
    done
    report "$1.usr-local-writable" "$(can_write "/usr/local/probe-$1")"
    rm -f "/usr/local/probe-$1"
    report "$1.mounts-on-usr-local" "$(awk '$5 == "/usr/local"' /proc/self/mountinfo | wc -l)"
    systemctl --failed --plain --no-legend | while read -r unit _; do
        report "$1.failed-unit" "$unit"
    done
}

# The script as the DaemonSet runs it: in a mount namespace of its own but the node's processes, with busybox, the node's root folder below /host,
# and nothing of its own to write to. $1 is the key of the report, the others are the script's arguments.
prepare_node() {
    key=$1
    shift
    code=0
    unshare --mount --propagation slave sh -c '
        set -e
        mount --bind /container /container
        mount --rbind / /container/host
        mount --make-rslave /container/host
        mount --rbind /dev /container/dev
        mount -t proc proc /container/proc
        mount -o remount,bind,ro /container
        exec chroot /container /bin/sh /source/prepare-node.sh "$@"
    ' prepare-node "$@" >/run/prepare-node.log 2>&1 || code=$?
    report "$key.exit" "$code"
    sed "s/^/$key.log=/" /run/prepare-node.log
}

# systemd starts what is upheld a moment later; a machine without KVM has long moments.
wait_for_usr_local() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(can_write /usr/local/probe)" = yes ] && break
        sleep 1
    done
    rm -f /usr/local/probe
}
