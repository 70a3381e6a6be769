#!/bin/sh
#JOB run=added
# A job that tells on its queue: it enters its name in $SLOTHQ_FOLDER/trace, then looks whether a process of an earlier
# attempt that entered its own still lives. Of two that live at once the second sees the first, whatever any clock says.
#
#   witness.sh EXIT BEATS...    attempt n beats (every 0.1 s) as often as the nth number says, the last one for all later
#
#   start JOB.CLAIM PID TICKS   a life begins (TICKS: the kernel's start time, since a pid may be used again)
#   beat JOB.CLAIM PID          it goes on
#   end JOB.CLAIM PID           it ended by itself
#   overlap JOB.CLAIM OTHER PID another attempt of the same job lives: never
stray=no
trace=$SLOTHQ_FOLDER/trace
me=${SLOTHQ_RUN#*:}
exit=$1
shift
n=$SLOTHQ_ATTEMPT
while [ "$n" -gt 1 ] && [ $# -gt 1 ]; do shift; n=$((n - 1)); done
beats=$1

# field N of /proc/PID/stat; the names of the processes here have no blanks
field() { cut -d ' ' -f "$2" "/proc/$1/stat" 2>/dev/null; }

echo "start $me $$ $(field $$ 22)" >> "$trace"
grep "^start ${me%.*}\." "$trace" | while read -r _ other pid ticks; do
    state=$(field "$pid" 3)
    if [ "$other" != "$me" ] && [ -n "$state" ] && [ "$state" != Z ] && [ "$(field "$pid" 22)" = "$ticks" ]; then
        echo "overlap $me $other $pid" >> "$trace"
    fi
done

# one that leaves the group, as daemons do
if [ "$stray" = yes ]; then
    setsid sh -c 'echo "start $1 $$ $(cut -d " " -f 22 /proc/$$/stat)" >> "$2"; exec sleep 600' sh "$me" "$trace" &
fi

while [ "$beats" -gt 0 ]; do
    sleep 0.1
    echo "beat $me $$" >> "$trace"
    beats=$((beats - 1))
done
echo "end $me $$" >> "$trace"
exit "$exit"
