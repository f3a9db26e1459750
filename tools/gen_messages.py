#!/usr/bin/env python3
"""Writes what protocol/messages.json says into another language.

usage: gen_messages.py messages.json {header|table|python} OUT

header  include/swp/status.h, the public enum
table   C source with the name and the text of every status
python  constants and exception classes of the Python package
"""
import json
import sys

NOTE = "Generated from protocol/messages.json by tools/gen_messages.py; do not edit."


def header(statuses):
    yield f"/* {NOTE} */"
    yield "#ifndef SWP_STATUS_H"
    yield "#define SWP_STATUS_H"
    yield ""
    yield "/* Outcome of a call. 0..63 also travel on the wire; 64 and up exist on the caller's side only. */"
    yield "typedef enum swp_status {"
    for s in statuses:
        yield f"    SWP_{s['name']} = {s['number']}, /* {s['when']} */"
    yield "} swp_status;"
    yield ""
    yield "#endif"


def table(statuses):
    yield f"/* {NOTE} */"
    yield '#include "base/status_table.h"'
    yield ""
    yield "const swp__status_row swp__status_rows[] = {"
    for s in statuses:
        yield f'    {{SWP_{s["name"]}, "{s["name"]}", "{s["text"]}"}},'
    yield "};"
    yield "const size_t swp__status_rows_count = sizeof swp__status_rows / sizeof swp__status_rows[0];"


def python(statuses):
    yield f'"""{NOTE}"""'
    yield ""
    yield ""
    yield "class SweepdError(Exception):"
    yield '    """Base of every error this package raises of its own.'
    yield ""
    yield "    status: the number in protocol/messages.json; at: argument number, index, line or byte offset, or None."
    yield '    """'
    yield ""
    yield "    status: int = -1"
    yield ""
    yield "    def __init__(self, message: str, at: int | None = None) -> None:"
    yield "        super().__init__(message)"
    yield "        self.at = at"
    raised = [s for s in statuses if s["exception"] is not None]
    for s in raised:
        bases = ", ".join(["SweepdError"] + s.get("exception_is_also", []))
        yield ""
        yield ""
        yield f"class {s['exception']}({bases}):"
        yield f'    """{s["when"][0].upper() + s["when"][1:]}."""'
        yield ""
        yield f"    status = {s['number']}"
    yield ""
    yield ""
    yield "BY_STATUS: dict[int, type[SweepdError]] = {"
    for s in raised:
        yield f"    {s['number']}: {s['exception']},"
    yield "}"
    yield '__all__ = ["SweepdError", *(raised.__name__ for raised in BY_STATUS.values())]'


def main():
    source, form, out = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        statuses = json.load(f)["statuses"]
    writer = {"header": header, "table": table, "python": python}[form]
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(writer(statuses)) + "\n")


if __name__ == "__main__":
    main()
