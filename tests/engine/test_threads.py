"""Threads are sized from what the process may use, not from what the host has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.engine import threads
from dragoman.engine.threads import available_cores, cgroup_quota


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_version_2_quota_is_read(tmp_path: Path) -> None:
    of_process = write(tmp_path / "cgroup", "0::/app\n")
    write(tmp_path / "root/app/cpu.max", "200000 100000\n")
    assert cgroup_quota(of_process, tmp_path / "root") == 2.0


def test_the_tightest_parent_counts(tmp_path: Path) -> None:
    of_process = write(tmp_path / "cgroup", "0::/pod/app\n")
    write(tmp_path / "root/pod/app/cpu.max", "max 100000\n")
    write(tmp_path / "root/pod/cpu.max", "150000 100000\n")
    write(tmp_path / "root/cpu.max", "400000 100000\n")
    assert cgroup_quota(of_process, tmp_path / "root") == 1.5


@pytest.mark.parametrize("mount", ["cpu", "cpu,cpuacct"])
def test_a_version_1_quota_is_read(tmp_path: Path, mount: str) -> None:
    of_process = write(tmp_path / "cgroup", "5:memory:/app\n4:cpu,cpuacct:/app\n0::/\n")
    write(tmp_path / "root" / mount / "app/cpu.cfs_quota_us", "300000\n")
    write(tmp_path / "root" / mount / "app/cpu.cfs_period_us", "100000\n")
    assert cgroup_quota(of_process, tmp_path / "root") == 3.0


@pytest.mark.parametrize("quota", ["-1", "x", ""])
def test_no_version_1_quota_is_none(tmp_path: Path, quota: str) -> None:
    of_process = write(tmp_path / "cgroup", "4:cpu:/\n")
    write(tmp_path / "root/cpu/cpu.cfs_quota_us", quota)
    write(tmp_path / "root/cpu/cpu.cfs_period_us", "100000")
    assert cgroup_quota(of_process, tmp_path / "root") is None


def test_unreadable_files_mean_no_quota(tmp_path: Path) -> None:
    assert cgroup_quota(tmp_path / "missing", tmp_path) is None
    of_process = write(tmp_path / "cgroup", "0::/app\n")
    assert cgroup_quota(of_process, tmp_path) is None
    write(tmp_path / "app/cpu.max", "nonsense")
    assert cgroup_quota(of_process, tmp_path) is None


@pytest.mark.parametrize(
    ("affinity", "quota", "cores"),
    [(8, None, 8), (8, 2.0, 2), (2, 6.0, 2), (4, 1.5, 1), (4, 0.5, 1)],
)
def test_affinity_and_quota_both_bound_the_cores(
    monkeypatch: pytest.MonkeyPatch, affinity: int, quota: float | None, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(affinity)))
    monkeypatch.setattr(threads, "cgroup_quota", lambda *_: quota)
    assert available_cores() == cores


def test_this_process_has_a_core() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)
