"""Time and memory of peers that do the same work, each in a process of its own, interleaved.

A script lists its `Peer`s and calls `main`. Every round starts one child per peer, in turn, so
that a busy minute hits all of them; the minimum over the rounds counts. A peer is a function that
does its imports first and returns the work to be timed, so library start-up is left out, unless
the peer is a whole command: then everything between start and end of the process counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Work = Callable[[], object]


@dataclass(frozen=True)
class Peer:
    """One contender: `prepare(folder)` imports and returns the work; or `command`, a whole program.

    `against` names the peer whose time is the 1 of its ratio.
    """

    name: str
    against: str
    prepare: Callable[[Path], Work] | None = None
    command: Callable[[Path], Sequence[str]] | None = None


@dataclass(frozen=True)
class Cost:
    """What one run took: seconds of wall clock, seconds of CPU, megabytes at the peak."""

    wall: float
    cpu: float
    peak: float


def cpu_seconds(who: int) -> float:
    """User and system time so far, all threads."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def peak_megabytes(who: int) -> float:
    """The largest resident set so far; Linux counts in kB, macOS in bytes."""
    status = Path("/proc/self/status")
    if who == resource.RUSAGE_SELF and status.exists():
        # getrusage would count what the parent held when it started this process.
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * scale / 1e6


def run_here(peer: Peer, folder: Path) -> Cost:
    """The cost of one peer in this process. Called in the child."""
    if peer.command is not None:
        who, work = resource.RUSAGE_CHILDREN, shell(peer.command(folder))
    else:
        assert peer.prepare is not None
        who, work = resource.RUSAGE_SELF, peer.prepare(folder)
    cpu, wall = cpu_seconds(who), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, cpu_seconds(who) - cpu, peak_megabytes(who))


def shell(command: Sequence[str]) -> Work:
    """The work of running a program and throwing its output away."""
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run_apart(script: Path, peer: Peer, folder: Path) -> Cost | str:
    """The cost of one peer in a child of its own, or why it failed."""
    # The child has the options of this run too: some say what a peer does.
    called = [str(script), *sys.argv[1:], "--peer", peer.name, "--folder", str(folder)]
    done = subprocess.run(
        [sys.executable, *called],
        capture_output=True,
        text=True,
        check=False,
        env=as_installed(),
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def as_installed() -> dict[str, str]:
    """The environment of a child: modules are compiled once, as they are where pip installs them.

    The first round compiles; the minimum over the rounds leaves that out, for every peer alike.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "karat-bytecode")} | kept


def race(script: Path, peers: Sequence[Peer], folder: Path, rounds: int) -> None:
    """Run all peers in turn, `rounds` times, and print the minima and their ratios."""
    best: dict[str, Cost] = {}
    failed: dict[str, str] = {}
    for number in range(rounds):
        for peer in peers:
            say(f"round {number + 1} of {rounds}: {peer.name}")
            cost = run_apart(script, peer, folder) if peer.name not in failed else ""
            if isinstance(cost, Cost):
                known = best.get(peer.name, cost)
                best[peer.name] = Cost(
                    min(cost.wall, known.wall), min(cost.cpu, known.cpu), min(cost.peak, known.peak)
                )
            elif cost:
                failed[peer.name] = cost
    say("")
    print(table(peers, best, failed))


def say(text: str) -> None:
    """Show what is running, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:<70}\r", end="", file=sys.stderr, flush=True)


def table(peers: Sequence[Peer], best: dict[str, Cost], failed: dict[str, str]) -> str:
    """One line a peer. A speed of 2.0 against 3 means half the time of the peer in line 3."""
    places = {peer.name: place for place, peer in enumerate(peers, 1)}
    lines = [f"{'':<46}{'wall s':>8}{'CPU s':>8}{'MB':>7}   speed (wall, CPU)"]
    for place, peer in enumerate(peers, 1):
        head = f"{place:>2} {peer.name:<43}"
        if peer.name not in best:
            lines.append(f"{head}failed: {failed.get(peer.name, '')}")
            continue
        cost, base = best[peer.name], best.get(peer.against)
        line = f"{head}{cost.wall:>8.3f}{cost.cpu:>8.3f}{cost.peak:>7.0f}"
        if base is not None and peer.against != peer.name:
            speed = f"{base.wall / cost.wall:.2f}, {base.cpu / cost.cpu:.2f}"
            line += f"   {speed} against {places[peer.against]}"
        lines.append(line)
    return "\n".join(lines)


def machine() -> str:
    """What the numbers were taken on."""
    return (
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, "
        f"{platform.machine()} {platform.system()}"
    )


def arguments(**more: int) -> argparse.Namespace:
    """The command line that every benchmark has; `more` are further whole numbers."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], help="peers whose name holds this")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(peers: Sequence[Peer], only: Sequence[str]) -> list[Peer]:
    """The peers to run."""
    return [p for p in peers if not only or any(word in p.name for word in only)]


def answer_as_child(peers: Sequence[Peer], name: str, folder: Path) -> None:
    """Run one peer and print its cost as JSON."""
    peer = next(p for p in peers if p.name == name)
    cost = run_here(peer, folder)
    print(json.dumps({"wall": cost.wall, "cpu": cost.cpu, "peak": cost.peak}))
