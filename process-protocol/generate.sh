#!/bin/sh
# Writes the codecs of svc/process/v1/process.proto. It needs protoc 3.21 or later, and the packages of the checkout.
set -eu
cd "$(dirname "$0")"
protoc --plugin=../node_modules/.bin/protoc-gen-ts_proto --ts_proto_out=generated \
  --ts_proto_opt=oneof=unions-value,importSuffix=.ts,forceLong=number,outputServices=none \
  --ts_proto_opt=outputJsonMethods=false,outputPartialMethods=false,useReadonlyTypes=true,comments=false \
  svc/process/v1/process.proto
