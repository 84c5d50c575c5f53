#!/bin/sh
# Builds the programs of a Kubernetes API server for the tests, once, into a folder of the user's cache, and prints the folder:
# kube-apiserver and kube-controller-manager 1.20.2 from Debian's source archive with Debian's Go, and Debian's etcd; kubectl too if the
# machine has none. Nothing is installed. Takes some minutes, 3 GB of disk while it builds, and 200 MB afterwards.
#
# - The folder is named after the hash of this file, which names the hash of the source archive. Packages are verified by apt.
# - The folder appears complete, by a rename, or not at all. A build that was killed leaves a folder that the next build removes.
# - If the build fails, its reason is printed, and stays in the file `FOLDER.failure`, which the tests show.
set -u
ARCHIVE=kubernetes_1.20.5+really1.20.2.orig.tar.gz
ARCHIVE_SHA256=b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc
VERSION=-X\ k8s.io/component-base/version
PACKAGES='golang-1.19-go golang-1.19-src etcd-server'

key=$(sha256sum <"$0" | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-test
folder=$cache/kubernetes-$key
if [ -d "$folder" ]; then
  echo "$folder"
  exit 0
fi
mkdir -p "$cache" || exit 1
for left in "$cache"/kubernetes-*.building-*; do
  [ -d "$left" ] && ! kill -0 "${left##*-}" 2>/dev/null && rm -rf "$left"
done
work=$folder.building-$$
log=$work/log
mkdir "$work" || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Ends with a reason, the last lines of what was printed, and the exit code 1.
fail() {
  { echo "$1"; tail -n 5 "$log"; } >"$folder.failure"
  cat "$folder.failure" >&2
  exit 1
}

download() {
  (cd "$work/downloads" && apt-get download $PACKAGES) >>"$log" 2>&1
}

: >"$log"
for program in apt-get apt-cache dpkg-deb tar sha256sum; do
  command -v "$program" >/dev/null || fail "cannot build a Kubernetes API server: there is no $program"
done
command -v kubectl >/dev/null || PACKAGES="$PACKAGES kubernetes-client"
mkdir "$work/downloads" "$work/packages" "$work/gopath" "$work/done"
# Old lists of apt name packages that the archive no longer has.
download || { apt-get update >>"$log" 2>&1 && download; } ||
  fail "cannot build a Kubernetes API server: apt cannot download $PACKAGES"
# The source archive lies beside the packages that were made of it.
beside=$(cd "$work" && apt-get download --print-uris kubernetes-client 2>>"$log" | cut -d "'" -f 2)
[ -n "$beside" ] || fail 'cannot build a Kubernetes API server: apt knows no package kubernetes-client'
/usr/lib/apt/apt-helper download-file "${beside%/*}/$ARCHIVE" "$work/downloads/$ARCHIVE" "SHA256:$ARCHIVE_SHA256" \
  >>"$log" 2>&1 || fail "cannot build a Kubernetes API server: apt cannot download $ARCHIVE"
echo "$ARCHIVE_SHA256  $work/downloads/$ARCHIVE" | sha256sum -c >>"$log" 2>&1 ||
  fail "cannot build a Kubernetes API server: $ARCHIVE does not have the expected hash"
for package in "$work"/downloads/*.deb; do
  dpkg-deb -x "$package" "$work/packages" || fail "cannot unpack $package"
done

# The sources have the place in GOPATH that their import paths name: they are older than modules of Go.
root=$work/gopath/src/k8s.io/kubernetes
mkdir -p "$root"
tar xzf "$work/downloads/$ARCHIVE" -C "$root" --strip-components=1 || fail "cannot unpack $ARCHIVE"
export GOROOT="$work/packages/usr/lib/go-1.19" GOPATH="$work/gopath" GOCACHE="$work/go-cache"
export GO111MODULE=off GOFLAGS= CGO_ENABLED=0 GOTMPDIR="$work" PATH="$GOROOT/bin:$PATH"
cd "$root" || exit 1

# From Go 1.18 on, the iterator of a map is its caller's. Without this the API server ends when it reads a custom resource.
reflect2=vendor/github.com/modern-go/reflect2
sed -i -e 's/m unsafe\.Pointer) \*hiter/m unsafe.Pointer, it *hiter)/' \
  -e 's|// rest fields are ignored|pointers [6]unsafe.Pointer; numbers [4]uintptr|' "$reflect2/unsafe_link.go" &&
  sed -i 's/hiter:      mapiterinit(/hiter:      begun(/' "$reflect2/unsafe_map.go" &&
  echo 'func begun(rtype, m unsafe.Pointer) *hiter { it := new(hiter); mapiterinit(rtype, m, it); return it }' \
    >>"$reflect2/unsafe_map.go" || fail 'cannot change reflect2'

# Prints the packages whose types are described in the generated file that the archive lacks.
described() {
  {
    for link in vendor/k8s.io/*; do
      real=$(readlink -f "$link")
      grep -rl --include='*.go' '+k8s:openapi-gen=' "$real" |
        grep -v -E '_test.go|/code-generator/|/sample-apiserver/|/testdata/|/kube-openapi/|zz_generated' |
        sed "s#/[^/]*\$##; s#^$real#k8s.io/kubernetes/$link#"
    done
    grep -rl --include='*.go' '+k8s:openapi-gen=' pkg cmd plugin | grep -v _test.go |
      sed 's#/[^/]*$##; s#^#k8s.io/kubernetes/#'
  } | sort -u | paste -s -d ,
}

go build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen >>"$log" 2>&1 ||
  fail 'cannot build openapi-gen'
# The generator ends with an error for types that violate its rules, and these do.
"$work/openapi-gen" --logtostderr -i "$(described)" -p k8s.io/kubernetes/pkg/generated/openapi \
  -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations" \
  --output-base "$GOPATH/src" >>"$log" 2>&1
[ -s pkg/generated/openapi/zz_generated.openapi.go ] || fail 'openapi-gen has generated nothing'
for program in kube-apiserver kube-controller-manager; do
  go build -ldflags "-s -w $VERSION.gitVersion=v1.20.2 $VERSION.gitMajor=1 $VERSION.gitMinor=20" \
    -o "$work/done/$program" "./cmd/$program" >>"$log" 2>&1 || fail "cannot build $program"
done
mv "$work"/packages/usr/bin/etcd "$work/done/" || fail 'the package etcd-server has no program etcd'
[ ! -e "$work/packages/usr/bin/kubectl" ] || mv "$work/packages/usr/bin/kubectl" "$work/done/"
# A build that ran at the same time may have been first.
mv -T "$work/done" "$folder" 2>/dev/null || [ -d "$folder" ] || fail "cannot rename to $folder"
rm -f "$folder.failure"
echo "$folder"
