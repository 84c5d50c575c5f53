#!/bin/sh
# Delivers an event as the sender of webhooks does, with curl and openssl: sh deliver.sh EVENT_ID DATASET_ID SEQ [URL]
set -eu
secret=a-secret-that-everybody-knows
url=${4:-http://127.0.0.1:9000/hooks}

body='{"id":"'$1'","type":"dataset.completed","data":{"id":"'$2'","seq":'$3',"status":"SOLVING_COMPLETED","score":"0hard/-120soft"}}'
timestamp=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
signature=$(printf '%s.%s' "$timestamp" "$body" | openssl dgst -sha256 -hmac "$secret" -binary | base64)

curl -sS "$url" -H 'Content-Type: application/json' -H "X-Hook-Timestamp: $timestamp" -H "X-Hook-Signature: $signature" \
  --data-binary "$body"
echo
