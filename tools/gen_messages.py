#!/usr/bin/env python3
"""Writes what protocol/messages.json says into another language.

usage: gen_messages.py messages.json FORM OUT

header     include/swp/status.h, the public enum of outcomes
table      C source with the name and the text of every status
numbers    wire/numbers.h: opcodes, flags, bits, limits
layout     C source with the layout of every message, and assertions that the structs of wire/wire.h are laid out so
python     exception classes of the Python package
constants  the protocol's numbers for Python
document   rewrites the tables between <!-- table NAME --> and <!-- end --> in OUT, a Markdown file
check      fails when `document` would change OUT
"""
import json
import sys

NOTE = "Generated from protocol/messages.json by tools/gen_messages.py; do not edit."

SIZES = {"u16": 2, "u32": 4, "u64": 8, "i64": 8, "f64": 8, "b16": 16, "z32": 4}

PAYLOAD_AT = 12  # where a fixed part begins in its frame

# JSON list of bits -> the prefix of its constants; what C has in a public header already is only compared with it.
BIT_LISTS = {"columns": "COLUMN", "policy": "POLICY", "known": "KNOWN", "features": "FEATURE", "results": "RESULT"}


def size_of(struct):
    return sum(SIZES[kind] for kind, _, _ in struct)


def offsets(struct):
    """(offset, kind, name, meaning) of every field."""
    at = 0
    for kind, name, meaning in struct:
        yield at, kind, name, meaning
        at += SIZES[kind]


def flags_mask(message):
    return (1 << len(message["flags"])) - 1


# ---- C ----


def header(spec):
    yield f"/* {NOTE} */"
    yield "#ifndef SWP_STATUS_H"
    yield "#define SWP_STATUS_H"
    yield ""
    yield "/* Outcome of a call. 0..63 also travel on the wire; 64 and up exist on the caller's side only. */"
    yield "typedef enum swp_status {"
    for s in spec["statuses"]:
        yield f"    SWP_{s['name']} = {s['number']}, /* {s['when']} */"
    yield "} swp_status;"
    yield ""
    yield "#endif"


def table(spec):
    yield f"/* {NOTE} */"
    yield '#include "base/status_table.h"'
    yield ""
    yield "const swp__status_row swp__status_rows[] = {"
    for s in spec["statuses"]:
        yield f'    {{SWP_{s["name"]}, "{s["name"]}", "{s["text"]}"}},'
    yield "};"
    yield "const size_t swp__status_rows_count = sizeof swp__status_rows / sizeof swp__status_rows[0];"


def enum(rows):
    """rows: (name, value, comment)."""
    yield "enum {"
    for name, value, comment in rows:
        yield f"    SWP__{name} = {value}," + (f" /* {comment} */" if comment else "")
    yield "};"
    yield ""


def numbers(spec):
    yield f"/* {NOTE} */"
    yield "#ifndef SWP_WIRE_NUMBERS_H"
    yield "#define SWP_WIRE_NUMBERS_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield from enum([(f"PROTOCOL_{part.upper()}", value, "") for part, value in spec["version"].items()])
    yield from enum([(f"OP_{m['name']}", hex(m["opcode"]), "") for m in spec["messages"]])
    yield from enum([(f"FLAG_{m['name']}_{name}", 1 << bit, "")
                     for m in spec["messages"] for bit, name in enumerate(m["flags"])])
    for key, prefix in BIT_LISTS.items():
        if key == "policy":
            continue
        rows = [(f"{prefix}_{b['name']}", 1 << b["bit"], b["when"]) for b in spec[key]]
        yield from enum(rows + [(f"{prefix}_ALL", sum(value for _, value, _ in rows), "")])
    rows = [("EXEC_BYTES", 8 * len(spec["exec"]), "all execution options this version knows")]
    for i, option in enumerate(spec["exec"]):
        rows.append((f"EXEC_{option['name'].upper()}_AT", 8 * i, "offset in the block"))
        if option["max"] is not None:
            rows.append((f"EXEC_{option['name'].upper()}_MAX", option["max"], option["when"]))
    yield from enum(rows)
    for option in spec["exec"]:
        if option["default"] != 0:
            yield f"#define SWP__EXEC_{option['name'].upper()}_DEFAULT {option['default']} /* {option['when']} */"
    for limit in spec["limits"]:
        yield f"#define SWP__{limit['name']} UINT64_C({limit['value']}) /* {limit['unit']}: {limit['when']} */"
    yield ""
    yield "#endif"


def layout(spec):
    yield f"/* {NOTE} */"
    yield '#include "wire/layout.h"'
    yield ""
    public = [(f"SWP_ALLOW_{b['name']}", 1 << b["bit"]) for b in spec["policy"]]
    public += [(f"SWP_GRID_{f['name']}", f["number"]) for f in spec["forms"]]
    public += [("SWP_PARAM_MAX", next(x["value"] for x in spec["limits"] if x["name"] == "PARAM_MAX"))]
    for name, value in public:
        yield f'_Static_assert({name} == {value}, "messages.json and include/swp differ");'
    yield ""
    for name, struct in spec["structs"].items():
        c = f"swp__wire_{name}"
        for at, kind, field, _ in offsets(struct):
            yield f"_Static_assert(offsetof({c}, {field}) == {at}, \"{name}.{field}\");"
            yield f"_Static_assert(sizeof((({c} *)0)->{field}) == {SIZES[kind]}, \"{name}.{field}\");"
        yield f"_Static_assert(sizeof({c}) == {size_of(struct)}, \"{name}\");"
        yield f"static const swp__wire_field {name}_fields[] = {{"
        for at, kind, field, _ in offsets(struct):
            yield f'    {{"{field}", SWP__WIRE_{kind.upper()}, {at}}},'
        yield "};"
        yield (f"const swp__wire_layout swp__wire_{name}_layout = "
               f'{{"{name}", {name}_fields, {len(struct)}, {size_of(struct)}}};')
        yield ""

    def pointer(name):
        return f"&swp__wire_{name}_layout" if name else "NULL"

    yield "const swp__wire_message swp__wire_messages[] = {"
    for m in spec["messages"]:
        yield (f'    {{"{m["name"]}", {hex(m["opcode"])}, {flags_mask(m)}, {pointer(m["request"])}, '
               f'{pointer(m["reply"])}, {pointer(m.get("more"))}}},')
    yield "};"
    yield "const size_t swp__wire_messages_count = sizeof swp__wire_messages / sizeof swp__wire_messages[0];"


# ---- Python ----


def python(spec):
    statuses = spec["statuses"]
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


def constants(spec):
    yield f'"""{NOTE}"""'
    yield ""
    yield f"PROTOCOL = ({spec['version']['major']}, {spec['version']['minor']})"
    yield ""
    for s in spec["statuses"]:
        yield f"{s['name']} = {s['number']}"
    yield ""
    for m in spec["messages"]:
        yield f"OP_{m['name']} = {m['opcode']:#x}"
    yield ""
    for m in spec["messages"]:
        for bit, name in enumerate(m["flags"]):
            yield f"FLAG_{m['name']}_{name} = {1 << bit}"
    for key, prefix in BIT_LISTS.items():
        yield ""
        for b in spec[key]:
            yield f"{prefix}_{b['name']} = {1 << b['bit']}"
    yield ""
    for f in spec["forms"]:
        yield f"FORM_{f['name']} = {f['number']}"
    yield ""
    for limit in spec["limits"]:
        yield f"{limit['name']} = {limit['value']}"


# ---- Markdown ----


def markdown(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def fields_table(struct, begin):
    rows = [(begin + at, "u32" if kind == "z32" else "16 bytes" if kind == "b16" else kind, f"`{name}`", meaning)
            for at, kind, name, meaning in offsets(struct)]
    yield from markdown(("offset", "type", "field", "meaning"), rows)


def part(spec, struct, tail):
    """'24: shape, then columns', for the table of messages."""
    fixed = f"`{struct}` ({size_of(spec['structs'][struct])})" if struct else ""
    return ", then ".join(filter(None, (fixed, tail))) or "nothing"


def messages_table(spec):
    for m in spec["messages"]:
        yield (f"0x{m['opcode']:02x}", m["name"], ", ".join(f"{1 << i} {f}" for i, f in enumerate(m["flags"])) or "",
               part(spec, m["request"], m["request_tail"]), part(spec, m["reply"], m["reply_tail"]),
               "" if m["built"] else "draft")


def bits_table(rows):
    typed = any("type" in b for b in rows)
    heads = ("bit", "value", "name") + (("type",) if typed else ()) + ("meaning",)
    yield from markdown(heads, [(b["bit"], 1 << b["bit"], b["name"]) + ((b["type"],) if typed else ()) + (b["when"],)
                                for b in rows])


def document_table(spec, name):
    kind, _, rest = name.partition(" ")
    if kind == "fixed":
        return fields_table(spec["structs"][rest], PAYLOAD_AT)
    if kind == "item":
        return fields_table(spec["structs"][rest], 0)
    if kind == "statuses":
        return markdown(("status", "name", "when"),
                        [(s["number"], s["name"], s["when"]) for s in spec["statuses"]
                         if (s["number"] < 64) == (rest == "wire")])
    if kind == "messages":
        return markdown(("opcode", "name", "flags", "request payload", "OK reply payload", ""), messages_table(spec))
    if kind == "limits":
        return markdown(("name", "value", "unit", "of"),
                        [(x["name"], x["value"], x["unit"], x["when"]) for x in spec["limits"]])
    if kind == "forms":
        return markdown(("form", "name", "params"), [(f["number"], f["name"], f["when"]) for f in spec["forms"]])
    if kind == "exec":
        return markdown(("offset", "type", "option", "default", "meaning"),
                        [(8 * i, e["type"], f"`{e['name']}`", e["default"], e["when"])
                         for i, e in enumerate(spec["exec"])])
    return bits_table(spec[kind])


def document(spec, text):
    out, inside = [], False
    for line in text.splitlines():
        if line == "<!-- end -->":
            inside = False
        if not inside:
            out.append(line)
        if line.startswith("<!-- table "):
            out.extend(document_table(spec, line[len("<!-- table "):-len(" -->")]))
            inside = True
    return "\n".join(out) + "\n"


def main():
    source, form, out = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        spec = json.load(f)
    if form in ("document", "check"):
        with open(out, encoding="utf-8") as f:
            was = f.read()
        text = document(spec, was)
        if form == "check":
            sys.exit(f"{out} is behind {source}: tools/gen_messages.py {source} document {out}" if text != was else 0)
    else:
        writer = {"header": header, "table": table, "numbers": numbers, "layout": layout, "python": python,
                  "constants": constants}[form]
        text = "\n".join(writer(spec)) + "\n"
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
