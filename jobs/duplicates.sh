#!/bin/sh
#JOB stall=10m
# Resuming: which files of data/, or of the folder it is given, have the same content? Each checksum goes into
# SLOTHQ_STATE, a folder of the job's own that lives across its attempts: killed in the middle, it goes on from there.
# A line '::progress DONE/ALL text' is what 'slothq status' shows meanwhile, and a sign of life for stall=.
set -eu

folder=${1:-data}
[ -d "$folder" ] || { echo "no folder $folder"; exit 65; }
state=${SLOTHQ_STATE:-$(mktemp -d)} # without slothq it begins anew each time
files=$state/files
sums=$state/sums
if [ ! -e "$files" ]; then
  find "$folder" -type f | sort >"$files.part"
  mv "$files.part" "$files"
fi
touch "$sums"
all=$(wc -l <"$files" | tr -d ' ')
n=$(wc -l <"$sums" | tr -d ' ')

tail -n +$((n + 1)) "$files" | while read -r file; do
  echo "$(cksum <"$file") $file" >>"$sums"
  n=$((n + 1))
  echo "::progress $n/$all $file"
done

# Files with the same checksum and size stand beside each other now.
mkdir -p out
sort "$sums" | awk '
  { sum = $1 " " $2; file = substr($0, length(sum) + 2) }
  sum == last { print (first == "" ? "" : first "\n") "  = " file; first = ""; next }
  { last = sum; first = file }' >out/duplicates.part
mv out/duplicates.part out/duplicates.txt
echo "$all files, $(grep -c '^  = ' out/duplicates.txt || true) of them copies, see out/duplicates.txt"
