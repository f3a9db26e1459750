"""What the benches say: spreads, tables in Markdown, and the machine they ran on."""
import json
import os
import pathlib
import platform
import statistics
import subprocess


def cpu_times():
    """(stolen by the host, all) since the machine began."""
    with open("/proc/stat", encoding="utf-8") as stat:
        fields = list(map(int, stat.readline().split()[1:]))
    return fields[7], sum(fields)


def machine_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"


def median_and_range(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}..{max(values):.{digits}f})"


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def number(value):
    """Three digits that count, or the whole part."""
    return f"{value:,.{max(0, 2 - int(f'{value:e}'.partition('e')[2]))}f}" if value else "0"


def shown(values, scale=1.0):
    """min / median / max of the values, or of a spread of them."""
    s = values if isinstance(values, dict) else spread(values)
    return " / ".join(number(s[key] * scale) for key in ("min", "median", "max"))


def table(columns, rows):
    """A Markdown table; columns but the first are numbers."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def compiler_version(name):
    return subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def clock_ghz(program):
    """How fast the CPU runs, by what it does (bench/clock.c); None where that program was not built."""
    if not pathlib.Path(program).exists():
        return None
    return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def machine(compilers, clock):
    import numba

    return {
        "machine": machine_name(), "ghz": clock_ghz(clock), "kernel": platform.release(),
        "python": platform.python_version(), "numba": numba.__version__,
        "compilers": [compiler_version(name) for name in compilers],
    }


def machine_line(about):
    clock = [f"{about['ghz']:.2f} GHz"] if about["ghz"] else []
    parts = [about["machine"], *clock, f"Linux {about['kernel']}", *about["compilers"], f"Python {about['python']}",
             f"numba {about['numba']}"]
    return "; ".join(parts)


def write(folder, name, section, about):
    """folder/name.md for people and folder/name.json with every sample."""
    text = f"### {section['title']}\n\n{section['text']}\n\n" + "\n\n".join(section["tables"]) + "\n"
    (folder / f"{name}.md").write_text(f"{text}\n<!-- {machine_line(about)} -->\n", encoding="utf-8")
    report = {"section": name, "machine": about, "samples": section["samples"]}
    (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return text
