#!/bin/sh
# Writes the messages of process.proto for Python. It needs protoc 3.21.
set -eu
cd "$(dirname "$0")"
protoc --proto_path=../../process-protocol --python_out=svc_process/generated --pyi_out=svc_process/generated \
  svc/process/v1/process.proto
