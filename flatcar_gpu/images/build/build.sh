#!/bin/sh
# Builds the driver images that releases.txt lists, from the last tree of NVIDIA/gpu-driver-container that had Flatcar.
#
#   ./build.sh [--push] [RELEASE ...]     without RELEASE all of releases.txt
#
# settings.sh says what to build. DOCKER names another program than docker, WORK another folder than work/ to build in.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"
docker=${DOCKER:-docker}
work=${WORK:-$here/work}
upstream=$work/gpu-driver-container
push=no
container=

die() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

say() {
    printf 'build.sh: %s\n' "$1" >&2
}

remove_container() {
    [ -z "$container" ] || "$docker" rm --force "$container" >/dev/null 2>&1 || true
    container=
}
trap remove_container EXIT
trap 'exit 130' INT TERM

fetch_upstream() {
    mkdir -p "$work"
    if [ ! -d "$upstream/.git" ]; then
        git init --quiet "$upstream"
        git -C "$upstream" remote add origin "$UPSTREAM_URL"
    fi
    git -C "$upstream" fetch --quiet --depth 1 origin "$UPSTREAM_COMMIT"
    git -C "$upstream" checkout --quiet --force --detach "$UPSTREAM_COMMIT"
    found=$(git -C "$upstream" rev-parse HEAD)
    [ "$found" = "$UPSTREAM_COMMIT" ] || die "$UPSTREAM_URL gave commit $found instead of $UPSTREAM_COMMIT"
    [ -f "$upstream/flatcar/Dockerfile" ] || die "commit $UPSTREAM_COMMIT has no flatcar/Dockerfile"
}

# The script in the image looks its release up under an old address, and in the stable channel whatever the node has.
correct_script() {
    script=$1 channel=$2
    sed -e "s|https://www\.flatcar-linux\.org/releases-json|$RELEASES_URL|g" \
        -e "s|releases-stable\.json|releases-$channel.json|g" \
        -e "s|COREOS_RELEASE_CHANNEL=stable|COREOS_RELEASE_CHANNEL=$channel|" \
        "$script" >"$script.corrected"
    grep -qF "$RELEASES_URL/" "$script.corrected" || die "$script does not look releases up where it is known to"
    grep -qF "COREOS_RELEASE_CHANNEL=$channel" "$script.corrected" || die "$script does not set its channel as known"
    cat "$script.corrected" >"$script" # keeps the mode, which mv would not
    rm "$script.corrected"
}

# `update` compiles the interfaces to one kernel into the image. It leaves its own arguments behind as the container's
# command, so that the committed image needs its entry point set anew.
bake_kernel() {
    image=$1 version=$2 kernel=$3
    container=flatcar-gpu-bake-$version-$$
    "$docker" run --name "$container" --privileged "$image" update --kernel "$kernel" </dev/null
    "$docker" commit --change 'ENTRYPOINT ["nvidia-driver", "init"]' --change 'CMD []' "$container" "$image"
    remove_container
}

build() {
    version=$1 channel=$2 kernel=$3 image=$4
    say "$image for Flatcar $version ($channel, kernel $kernel)"
    context=$work/$version
    rm -rf "$context"
    cp -R "$upstream/flatcar" "$context"
    correct_script "$context/nvidia-driver" "$channel"
    "$docker" build --build-arg "DRIVER_VERSION=$DRIVER_VERSION" --tag "$image" "$context"
    [ "$BAKE" = no ] || bake_kernel "$image" "$version" "$kernel"
    [ "$push" = no ] || "$docker" push "$image"
}

case ${1:-} in
--push) push=yes && shift ;;
-*) die "unknown option $1; usage: build.sh [--push] [RELEASE ...]" ;;
esac
for wanted in "$@"; do
    grep -qF "$wanted " "$here/releases.txt" || die "releases.txt has no $wanted"
done
fetch_upstream
while read -r version channel kernel image <&3; do
    case " $* " in
    "  " | *" $version "*) build "$version" "$channel" "$kernel" "$image" ;;
    esac
done 3<"$here/releases.txt"
