#!/bin/sh
# Compiles the copy command for both architectures into the folder FOLDER (default: this one).
# Usage: build.sh [FOLDER [ARCHITECTURE ...]]   ARCHITECTURE: amd64 or arm64; default: both
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- amd64 arm64
for architecture in "$@"; do
  case $architecture in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) echo "build.sh: unknown architecture $architecture" >&2; exit 2 ;;
  esac
  compiler=$machine-linux-gnu-gcc
  # No time, path, build id or version of the compiler gets into the program, and no code of a library.
  (cd "$here" && "$compiler" -std=c11 -Os -Wall -Wextra -Werror \
    -ffreestanding -fno-builtin -nostdlib -static -fno-pie -no-pie \
    -fno-stack-protector -fno-asynchronous-unwind-tables -fno-ident \
    -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,max-page-size=65536 -Wl,-z,noexecstack -Wl,-s \
    -o "$folder/copy-$architecture" copy.c)
  chmod 755 "$folder/copy-$architecture"
done
