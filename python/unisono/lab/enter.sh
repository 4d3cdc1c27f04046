#!/bin/sh
# Runs a command on a host of this lab. Called as ssh is, so that mpiexec takes it for one:
#   enter [OPTION...] HOST [COMMAND...]
# `unisono lab up` copies it into the lab's directory, where the files of the namespaces lie.
lab=${0%/*}
while :; do
  case ${1-} in
    -l | -p | -o | -i | -F) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=${1-}
[ $# -gt 0 ] && shift
if [ -z "$host" ] || [ ! -d "$lab/$host/shm" ]; then
  echo "unisono lab: there is no host '$host' in ${lab##*/}" >&2
  exit 255
fi
# The mount namespace is made anew each time: a persistent one could not be entered from another.
# /sys shows the devices of the network namespace that mounts it; control groups stay in reach.
# Shared memory of two hosts must be two things, or MPI libraries would take them for one.
exec nsenter --net="$lab/$host/net" --uts="$lab/$host/uts" --ipc="$lab/$host/ipc" \
  unshare --mount sh -c '
    lab=$1 host=$2
    shift 2
    mount --rbind /sys/fs/cgroup "$lab/cgroup" 2>/dev/null
    mount -t sysfs unisono-lab /sys || exit 255
    mount --rbind "$lab/cgroup" /sys/fs/cgroup 2>/dev/null
    mount --bind "$lab/hosts" /etc/hosts || exit 255
    if [ -d /dev/shm ]; then mount --bind "$lab/$host/shm" /dev/shm || exit 255; fi
    if [ $# -eq 0 ]; then exec "${SHELL:-/bin/sh}"; fi
    exec sh -c "$*"' sh "$lab" "$host" "$@"
