#!/bin/sh
# Installs the real parts that the tests use. For Debian 12 and later, as root.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    busybox-static \
    containerd \
    debian-archive-keyring \
    debootstrap \
    docker-registry \
    e2fsprogs \
    fish \
    gcc \
    git \
    ignition \
    kmod \
    libcap2-bin \
    libc6-dev \
    mandoc \
    openssl \
    qemu-system-x86 \
    shellcheck \
    skopeo \
    systemd \
    util-linux \
    zsh
