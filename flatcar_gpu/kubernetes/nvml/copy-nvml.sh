#!/bin/sh
# Copies NVIDIA's management library out of a driver root, so that a monitoring agent can load it without the
# driver's glibc. It looks only at known folders: a driver root can hold a live /proc, where a walk would hang or fail.
#
# NVML_DRIVER_ROOTS  driver roots to look in, in this order, separated by blanks
# NVML_LIB_DIRS      more folders to look in below each root, behind the usual ones
# NVML_TARGET        folder that gets the library
# NVML_WAIT_SECONDS  how long to wait for a driver that is not there yet
set -e

roots=${NVML_DRIVER_ROOTS:-/run-nvidia}
lib_dirs="usr/lib64 usr/lib/x86_64-linux-gnu usr/lib/aarch64-linux-gnu ${NVML_LIB_DIRS:-}"
target=${NVML_TARGET:-/nvml-libs}
wait_seconds=${NVML_WAIT_SECONDS:-0}

# As process 1 of a container the shell would ignore the signal that ends the pod.
trap 'exit 143' TERM INT

case $wait_seconds in
*[!0-9]*)
    echo "NVML_WAIT_SECONDS is not a whole number: $wait_seconds"
    exit 1
    ;;
esac

# Sets $resolved to $2 below the root $1, free of links. An absolute link starts again at the root, as it does for the
# driver. Fails where a link loops, or leads to where no library is.
resolve() {
    todo=$2
    resolved=
    links=0
    while [ -n "$todo" ]; do
        part=${todo%%/*}
        case $todo in
        */*) todo=${todo#*/} ;;
        *) todo= ;;
        esac
        case $part in
        '' | .) continue ;;
        ..)
            resolved=${resolved%/*}
            continue
            ;;
        esac
        case $resolved/$part in
        /proc | /sys | /dev) return 1 ;;
        esac
        if [ -L "$1$resolved/$part" ]; then
            links=$((links + 1))
            [ "$links" -le 40 ] || return 1
            link=$(readlink "$1$resolved/$part") || return 1
            case $link in
            /*) resolved= ;;
            esac
            todo=$link/$todo
        else
            resolved=$resolved/$part
        fi
    done
}

# Sets $folder and $library to the first folder whose libnvidia-ml.so.1 can be loaded, and to the file behind it.
# An empty file is what a mount of a missing library leaves behind.
find_library() {
    for root in $roots; do
        root=${root%/}
        for lib_dir in $lib_dirs; do
            resolve "$root" "$lib_dir" || continue
            folder=$root$resolved
            resolve "$root" "$resolved/libnvidia-ml.so.1" || continue
            library=$root$resolved
            if [ -f "$library" ] && [ -s "$library" ]; then
                return 0
            fi
        done
    done
    return 1
}

# Says which names of the library are there although none can be loaded.
explain_missing() {
    for root in $roots; do
        root=${root%/}
        for lib_dir in $lib_dirs; do
            resolve "$root" "$lib_dir" || continue
            for found in "$root$resolved"/libnvidia-ml.so*; do
                if [ -e "$found" ] || [ -L "$found" ]; then
                    echo "Skipped $found: no libnvidia-ml.so.1 beside it leads to a file"
                fi
            done
        done
    done
}

# A library of another version than the loaded module is refused by the driver.
compare_with_module() {
    version=${library##*/libnvidia-ml.so.}
    case $version in
    [0-9]*.[0-9]*) ;;
    *) return 0 ;;
    esac
    [ -r /sys/module/nvidia/version ] || return 0
    module=$(cat /sys/module/nvidia/version)
    if [ "$module" != "$version" ]; then
        echo "Warning: the library is $version, the loaded kernel module $module: NVML does not start with this pair"
    fi
}

# Left by an earlier run, perhaps of another driver, perhaps a partial copy.
rm -rf "$target"/libnvidia-ml.so*

waited=0
until find_library; do
    if [ "$waited" -ge "$wait_seconds" ]; then
        explain_missing
        if [ "$waited" -gt 0 ]; then
            echo "No NVML libraries found at $roots within $waited seconds"
        else
            echo "No NVML libraries found at $roots"
        fi
        exit 0
    fi
    if [ "$waited" -eq 0 ]; then
        echo "Waiting up to $wait_seconds seconds for libnvidia-ml.so.1 at $roots"
    fi
    sleep 1
    waited=$((waited + 1))
done

# The file first: after a failed copy no link leads to the part of it that is there.
name=${library##*/}
case $name in
libnvidia-ml.so*) ;;
*) name=libnvidia-ml.so.1 ;;
esac
cp -P "$library" "$target/$name"
count=1
if [ "$name" != libnvidia-ml.so.1 ]; then
    ln -s "$name" "$target/libnvidia-ml.so.1"
    count=$((count + 1))
fi
if [ "$name" != libnvidia-ml.so ] && { [ -L "$folder/libnvidia-ml.so" ] || [ -f "$folder/libnvidia-ml.so" ]; }; then
    ln -s libnvidia-ml.so.1 "$target/libnvidia-ml.so"
    count=$((count + 1))
fi

compare_with_module
echo "Copied $count NVML library file(s) to $target"
