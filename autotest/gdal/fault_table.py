"""Turns what the tests of faults print into the table of docs/fault-table.md.

    build/release/autotest/gdal/driver_test --gtest_filter='FaultTable.*' | python3 autotest/gdal/fault_table.py
"""

import sys

COLUMNS = [(path, engine) for engine in ("CURL", "VSI")
           for path in ("chunk", "JSON set", ".zmetadata", "record file")]
WORDS = {"right pixels": "right", "one error": "error", "absent: fill": "absent", "WRONG": "**wrong**"}


def main():
    rows = {}
    for line in sys.stdin:
        fields = [field.strip() for field in line.split("|")]
        if len(fields) < 6:
            continue
        _, fault, path, engine, outcome = fields[:5]
        rows.setdefault(fault, {})[path, engine] = WORDS[outcome]
    print("| fault |", " | ".join(path for path, _ in COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for fault, outcomes in rows.items():
        print(f"| {fault} |", " | ".join(outcomes.get(column, "") for column in COLUMNS), "|")


if __name__ == "__main__":
    main()
