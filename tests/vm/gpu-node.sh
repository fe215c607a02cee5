#!/bin/sh
# Runs in the machine: what a GPU node must be like, as `key=value` lines.
set -u

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

# Whether /usr/local takes files, and whether they end up where they last. $1 names the stage.
usr_local() {
    report "$1.unit" "$(systemctl show -P ActiveState -P SubState usr-local.mount | tr '\n' ' ' | sed 's/ $//')"
    report "$1.usr-writable" "$(can_write "/usr/probe-$1")"
    report "$1.usr-local-writable" "$(can_write "/usr/local/probe-$1")"
    report "$1.in-upper-directory" "$(cat "/opt/usr-local-overlay/probe-$1" 2>/dev/null || echo no)"
}

extensions() {
    for file in /usr/share/vm-test/*; do
        [ -e "$file" ] && report "$1.extension" "${file##*/}"
    done
}

failed_units() {
    systemctl --failed --plain --no-legend | while read -r unit _; do
        report "$1.failed-unit" "$unit"
    done
}

stage() {
    usr_local "$1"
    extensions "$1"
    failed_units "$1"
}

# systemd starts what is upheld a moment later; a machine without KVM has long moments.
wait_for_usr_local() {
    [ -n "$(systemctl show -P UpheldBy usr-local.mount)" ] || return
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(can_write /usr/local/probe)" = yes ] && return
        sleep 1
    done
}

report systemd "$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')"
report kernel "$(uname -r)"
awk '$5 == "/usr" { print "usr-mount=" $6 }' /proc/self/mountinfo
for name in loop i2c_core ipmi_msghandler; do
    report "module.$name" "$(module "$name")"
done
report enabled.usr-local.mount "$(systemctl is-enabled usr-local.mount)"
report enabled.nvidia.service "$(systemctl is-enabled nvidia.service 2>&1)"
report boot.kept "$(cat /usr/local/probe-restart 2>/dev/null || echo no)"
stage boot

# Another extension, so that the refresh has something to merge.
later=/etc/extensions/later/usr
mkdir -p "$later/lib/extension-release.d" "$later/share/vm-test"
cp /etc/extensions/first/usr/lib/extension-release.d/extension-release.first \
    "$later/lib/extension-release.d/extension-release.later"
echo later >"$later/share/vm-test/later"
systemd-sysext refresh >&2
wait_for_usr_local
stage refresh

systemctl restart systemd-sysext.service
wait_for_usr_local
stage restart

journalctl --boot --output cat | grep -E 'Unknown (key|lvalue|section)|ordering cycle|Failed to parse' | sed 's/^/complaint=/'
