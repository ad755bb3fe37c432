"""Kernels compiled in another process on a machine's first run."""

import subprocess
import sys

import pytest

from leverrier.discovery import first_kernels
from leverrier.kernels.em.iteration import iterate
from leverrier.run import precompile as ahead


@pytest.fixture
def begun(monkeypatch):
    """The processes that would have been started."""
    programs = []

    class Process:
        def __init__(self, command, **_):
            programs.append(command)

        def kill(self):
            programs.append("killed")

    monkeypatch.setattr(ahead, "_others", [])
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(ahead.atexit, "register", lambda _: None)
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)
    return programs


def test_a_first_run_has_help_once(begun, monkeypatch):
    monkeypatch.setattr(ahead, "never_compiled", lambda _: True)
    first_kernels.compile_first(2)
    first_kernels.compile_first(2)
    assert [program[0] for program in begun] == [sys.executable]
    ahead.end_compiling()
    assert begun[-1] == "killed"


@pytest.mark.parametrize(("jobs", "fresh", "cores"), [(1, True, 2), (2, False, 2), (2, True, 1)])
def test_no_help_where_it_would_not(begun, monkeypatch, jobs, fresh, cores):
    monkeypatch.setattr(ahead, "never_compiled", lambda _: fresh)
    monkeypatch.setattr(ahead, "usable_cores", lambda: cores)
    first_kernels.compile_first(jobs)
    assert not begun


def test_a_machine_that_starts_no_processes_compiles_alone(begun, monkeypatch):
    def none(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(ahead, "never_compiled", lambda _: True)
    monkeypatch.setattr(subprocess, "Popen", none)
    first_kernels.compile_first(2)
    assert not begun


def test_a_compiled_kernel_is_seen(tmp_path, monkeypatch):
    """The name of the file is Numba's affair: compile something of ours and look for it as the code does."""
    first_kernels.compile_kernels()
    assert not ahead.never_compiled(iterate)
    monkeypatch.setattr(type(iterate._cache), "cache_path", str(tmp_path))
    assert ahead.never_compiled(iterate)
