"""The gate over a sweepd package in a process of its own: another instruction set, another build.

Run as a program it is the other process: it reads cases from a pickle, sweeps each with each kernel, and writes the tables. It
needs numpy and sweepd, not numba.
"""
import pathlib
import pickle
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def differences(expected, kernels, environment):
    """What the gate says of the package that `environment` finds: texts, none when all is identical. `expected`: pairs of a case
    and the reference's table."""
    from reference import gate

    texts = []
    with tempfile.TemporaryDirectory() as folder:
        request, answer = pathlib.Path(folder, "request"), pathlib.Path(folder, "answer")
        request.write_bytes(pickle.dumps(([case for case, _ in expected], kernels)))
        subprocess.run([sys.executable, __file__, request, answer], env=environment, check=True)
        tables = pickle.loads(answer.read_bytes())
    for case, table in expected:
        for kernel in kernels:
            texts += [f"{kernel}: {text}" for text in gate.differences(case, tables.pop(0), table)]
    return texts


def main(request, answer):
    sys.path.insert(0, str(FOLDER))
    from reference import gate

    cases, kernels = pickle.loads(pathlib.Path(request).read_bytes())
    tables = [gate.package_table(case, kernel) for case in cases for kernel in kernels]
    pathlib.Path(answer).write_bytes(pickle.dumps(tables))


if __name__ == "__main__":
    main(*sys.argv[1:])
