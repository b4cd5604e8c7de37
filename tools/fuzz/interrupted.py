# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the program and signal it at its N-th step on files, of those that Python takes.

    python -m tools.fuzz.interrupted N SIGNAL NOTE.txt COMMAND SCENE.blend [OPTIONS]

N: 0 for no signal. NOTE.txt gets the number of steps then, else whether the scene was saved at that moment.
"""

import os
import runpy
import signal
import sys

STEPS = {
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    *("shutil.copyfile", "shutil.rmtree", "shutil.move", "fcntl.flock", "fcntl.lockf", "tempfile.mkdtemp"),
    "os.utime",
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def main(at: str, name: str, note: str, *words: str) -> None:
    """Run the program with the hook."""
    number, steps = signal.Signals[name], 0
    own, scene = os.getpid(), words[1]
    inode = os.stat(scene).st_ino

    def hook(event: str, arguments: tuple) -> None:
        nonlocal steps
        if not _is_step(event, arguments) or os.getpid() != own:
            return
        steps += 1
        if steps == int(at):
            saved = not os.path.exists(scene) or os.stat(scene).st_ino != inode
            _write(note, "saved" if saved else "")
            os.kill(own, number)

    sys.argv = ["ik2d_addon", *words]
    sys.addaudithook(hook)
    leave = os._exit

    def counted(code: int) -> None:
        if at == "0":
            _write(note, str(steps))
        leave(code)

    os._exit = counted
    runpy.run_module("ik2d_addon", run_name="__main__", alter_sys=True)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _is_step(event: str, arguments: tuple) -> bool:
    """Return whether an event is a step that changes files."""
    if event != "open":
        return event in STEPS
    _, mode, flags = arguments
    return any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & WRITES)


if __name__ == "__main__":
    main(*sys.argv[1:])
