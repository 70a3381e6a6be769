#!/bin/sh
#JOB timeout=10m
# A shell script: a dated archive of a folder (data/, or the one it is given), the newest seven kept.
# The archive gets its name when it is whole and was read again, so a kill in the middle leaves no half of one there.
# For a backup a day write run=always above, and let cron or your login start 'slothq run'.
set -eu

folder=${1:-data}
[ -d "$folder" ] || { echo "no folder $folder"; exit 65; } # 65: give up, trying again does not help
name=$(basename "$folder")
archive=out/archive/$name-$(date +%Y-%m-%d).tar.gz
mkdir -p out/archive

tar -czf "$archive.part" -C "$(dirname "$folder")" "$name"
list=$(tar -tzf "$archive.part")
mv "$archive.part" "$archive"

printf '%s\n' "out/archive/$name"-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].tar.gz |
  sort -r | tail -n +8 | while read -r old; do rm "$old"; done
echo "$archive, $(echo "$list" | grep -c -v '/$' || true) files"
