#!/usr/bin/env bash
# Makes a stand-in for the Dockerfile's base image where no image registry can be reached: a minimal
# Debian with its own python3, under the base's own name. Run as root; needs debootstrap and podman
# (or docker). Afterwards build with the engine's "never pull" option.
#
#   ENGINE   "podman" or "docker", options included          (default: podman)
#   BASE     name to give the image                          (default: what the Dockerfile says)
#   SUITE    Debian release                                  (default: bookworm)
#   MIRROR   Debian mirror                                   (default: debootstrap's own)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

read -r -a engine <<< "${ENGINE:-podman}"
base=${BASE:-$(sed -n 's/^ARG BASE=//p' "$here/../Dockerfile")}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv \
    "${SUITE:-bookworm}" "$root" ${MIRROR:+"$MIRROR"}
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
tar --directory "$root" --create . | "${engine[@]}" import - "$base"
