#!/bin/sh
# A machine whose clocks a test holds in its hand:  unshare -m sh rig.sh STATE make | run CMD... | freeze | thaw | end
#
# STATE holds wallshim.so, wall (the wall clock's offset, see wallshim.c), uptime (shown as /proc/uptime) and name (of the
# cgroup). The namespace is a new one at each call, so that no mount is ever seen outside, and none stays behind.
state=$1 verb=$2
shift 2
mkdir -p "$state/cgroups"
mount -t cgroup2 cgroup2 "$state/cgroups" || exit 77
group=$state/cgroups/$(cat "$state/name")

awaitFrozen() {
    until grep -q "^frozen $1" "$group/cgroup.events"; do sleep 0.01; done
}

case $verb in
make) mkdir "$group" ;;
run)
    mount --bind "$state/uptime" /proc/uptime || exit 77
    echo $$ > "$group/cgroup.procs" || exit 77
    export LD_PRELOAD="$state/wallshim.so" WALLSHIM_FILE="$state/wall"
    exec "$@"
    ;;
freeze) echo 1 > "$group/cgroup.freeze" && awaitFrozen 1 ;;
thaw) echo 0 > "$group/cgroup.freeze" && awaitFrozen 0 ;;
end)
    [ -d "$group" ] || exit 0
    echo 0 > "$group/cgroup.freeze"
    # A process may fork while the list is read: again, until nobody is left.
    tries=500
    until rmdir "$group" 2>/dev/null; do
        while read -r pid; do kill -s KILL "$pid" 2>/dev/null; done < "$group/cgroup.procs"
        tries=$((tries - 1))
        [ $tries -gt 0 ] || exit 1
        sleep 0.02
    done
    ;;
esac
