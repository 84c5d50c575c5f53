#!/bin/sh
# Runs a program in a user namespace, a network namespace and a mount namespace of its own. Nobody else reaches its loopback.
#
#   unshare --user --map-root-user sh pod-network.sh OUTBOUND BUBBLEWRAP PROGRAM [ARGUMENT]...
#
# The program has the id of this process, so whoever has started it can watch and signal it.
#
# OUTBOUND: `none`, or the path of pasta, which then passes on what the program connects to outside of this machine. Nothing of this
# machine is passed on, and nothing that listens inside is reached from outside, except for sockets that the program has inherited.
# The machine's own addresses are unreachable, and so are those at which clouds give away credentials.
#
# BUBBLEWRAP: its path. It is read-only in the mount namespace: a program can be executed as bubblewrap's own file (/proc/self/exe), and
# would otherwise be able to replace it where the control plane runs as its owner.
set -eu
outbound=$1
shift
export POD_LEADER=$$
POD_BLOCKED=$(ip -o addr show | while read -r _ device family address _; do
  case $device:$family in
  lo:* | *:link*) ;;
  *:inet | *:inet6) echo "${address%%/*}" ;;
  esac
done)
export POD_BLOCKED
if [ "$outbound" != none ]; then
  # It stays in the present network, waits for the other one, and dies with the program. A process with less rights than the program
  # may not open its namespaces by /proc, so it inherits the namespace as a file.
  setpriv --pdeathsig KILL sh -c '
    while [ "$(readlink "/proc/$POD_LEADER/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    exec 9<"/proc/$POD_LEADER/ns/net"
    exec "$0" --foreground --quiet --runas 0 --config-net --netns-only --netns /proc/self/fd/9 \
      --no-map-gw --tcp-ports none --udp-ports none --tcp-ns none --udp-ns none \
      --dns-forward 169.254.1.1 >&2
  ' "$outbound" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- &
  export POD_FORWARDER=$!
fi
# shellcheck disable=SC2016 -- the inner shell expands it
exec unshare --net --mount sh -c '
  set -eu
  mount --bind "$1" "$1"
  mount -o remount,bind,ro "$1"
  shift
  ip link set lo up
  if [ -n "${POD_FORWARDER:-}" ]; then
    # Rules come before all routes, also before those that pasta copies from the machine.
    ip rule add pref 10 to 169.254.1.1 lookup main
    for address in 169.254.0.0/16 100.100.100.200 168.63.129.16 $POD_BLOCKED; do
      case $address in *:*) continue ;; esac
      ip rule add pref 20 to "$address" blackhole
    done
    for address in fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe $POD_BLOCKED; do
      case $address in fe80:*) ;; *:*) ip -6 rule add pref 20 to "$address" blackhole ;; esac
    done
    until [ -n "$(ip route show default; ip -6 route show default)" ]; do
      # A machine that is connected to nothing has nothing to pass on, and pasta ends.
      if ! readlink "/proc/$POD_FORWARDER/exe" >/dev/null; then
        echo "svc: this service cannot reach other machines: pasta has ended" >&2
        break
      fi
      sleep 0.01
    done
    device=$(ip -o link show up | sed -n "/: lo:/d; s/^[0-9]*: \([^:@]*\).*/\1/p" | head -n 1)
    [ -z "$device" ] || ip route replace 169.254.1.1 dev "$device"
  fi
  export LISTEN_PID=$$
  unset POD_LEADER POD_FORWARDER POD_BLOCKED
  exec "$@"
' sh "$@"
