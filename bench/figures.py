"""What the benches say about a machine and about many values of one figure."""
import os
import statistics


def cpu_times():
    with open("/proc/stat") as stat:
        fields = list(map(int, stat.readline().split()[1:]))
    return fields[7], sum(fields)


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}..{max(values):.{digits}f})"
