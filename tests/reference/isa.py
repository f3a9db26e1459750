"""Which of the library's instruction sets this machine has, found without the library (src/base/cpu.h says what each needs)."""
import pathlib

FLAGS = {
    "c": set(),
    "avx2": {"avx2", "fma", "bmi2"},
    "avx512": {"avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vbmi2"},
}


def cpu_flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            return set(line.split())
    return set()


def of_this_machine():
    flags = cpu_flags()
    return [name for name, needed in FLAGS.items() if needed <= flags]
