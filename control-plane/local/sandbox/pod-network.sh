#!/bin/sh
# Runs a program in a user namespace and a network namespace of its own, whose loopback nobody else reaches:
#
#   unshare --user --map-root-user sh pod-network.sh OUTBOUND PROGRAM [ARGUMENT]...
#
# The program has the id of this process, so whoever has started it can watch and signal it.
# OUTBOUND: `none`, or the path of pasta, which then passes on what the program connects to outside of this machine. Nothing of this
# machine is passed on, and nothing that listens inside is reached from outside, except for sockets that the program has inherited.
# Link-local addresses are cut off, because clouds give away credentials there.
set -eu
outbound=$1
shift
export POD_LEADER=$$
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
exec unshare --net sh -c '
  set -eu
  ip link set lo up
  if [ -n "${POD_FORWARDER:-}" ]; then
    until [ -n "$(ip route show default; ip -6 route show default)" ]; do
      # A machine that is connected to nothing has nothing to pass on, and pasta ends.
      if ! readlink "/proc/$POD_FORWARDER/exe" >/dev/null; then
        echo "svc: this service cannot reach other machines: pasta has ended" >&2
        break
      fi
      sleep 0.01
    done
    ip route add blackhole 169.254.0.0/16 || true
    ip -6 route add blackhole fd00:ec2::254 2>/dev/null || true
    device=$(ip route show default | sed -n "s/.* dev \([^ ]*\).*/\1/p" | head -n 1)
    [ -z "$device" ] || ip route add 169.254.1.1 dev "$device"
  fi
  export LISTEN_PID=$$
  unset POD_LEADER POD_FORWARDER
  exec "$@"
' sh "$@"
