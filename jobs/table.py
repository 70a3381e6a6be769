#!/usr/bin/env python3
#JOB run=added key=args
"""Python: 'slothq add table data/account.csv' turns a CSV file into out/account.db, a table that sqlite3 can ask.

It runs when it is added by hand, so a machine without Python never misses it. The new file takes the old one's place
when it is whole: run twice, it is the same.
"""
import csv
import os
import sqlite3
import sys

GIVE_UP = 65

if len(sys.argv) != 2 or not os.path.isfile(sys.argv[1]):
    print("one CSV file, please; not", *sys.argv[1:])
    sys.exit(GIVE_UP)

source = sys.argv[1]
name = os.path.splitext(os.path.basename(source))[0]
part = os.path.join("out", name + ".part")
os.makedirs("out", exist_ok=True)
if os.path.exists(part):  # an earlier attempt was killed
    os.remove(part)

with open(source, newline="", encoding="utf-8") as file:
    delimiter = max(",;\t|", key=file.readline().count)
    file.seek(0)
    head, *rows = csv.reader(file, delimiter=delimiter)


def quoted(word):
    return '"' + word.replace('"', '""') + '"'


database = sqlite3.connect(part)
database.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, head))})")
for n, row in enumerate(rows, 1):
    database.execute(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(head))})", row)
    if n % 1000 == 0:
        print(f"::progress {n}/{len(rows)}", flush=True)
database.commit()
database.close()

os.replace(part, os.path.join("out", name + ".db"))
print(f"{len(rows)} rows, see out/{name}.db")
