# SPDX-License-Identifier: GPL-3.0-or-later
"""Files written whole or not at all: temporary names, the one step, versions, what is left behind."""

import os
import stat

import pytest

from ik2d_addon.cli.files import files
from ik2d_addon.core import IK2DError


@pytest.fixture
def scene(tmp_path) -> str:
    path = tmp_path / "scene.blend"
    path.write_bytes(b"old")
    return str(path)


def names(scene: str) -> list[str]:
    return sorted(os.listdir(os.path.dirname(scene)))


def replaced(scene: str, content: bytes, versions: int = 1) -> None:
    with files.temporary(scene, ".blend") as written:
        with open(written, "wb") as file:
            file.write(content)
        files.put_in_place(written, scene, versions)


def contents(scene: str) -> dict[str, bytes]:
    found = {}
    for name in names(scene):
        with open(os.path.join(os.path.dirname(scene), name), "rb") as file:
            found[name] = file.read()
    return found


def test_as_many_versions_are_kept_as_are_asked_for(scene):
    for content in (b"1", b"2", b"3"):
        replaced(scene, content, versions=2)
    assert contents(scene) == {"scene.blend": b"3", "scene.blend1": b"2", "scene.blend2": b"1"}
    replaced(scene, b"4", versions=0)
    assert contents(scene) == {"scene.blend": b"4", "scene.blend1": b"2", "scene.blend2": b"1"}


def test_at_no_step_is_there_no_file_at_its_place(scene, monkeypatch):
    seen = []
    for name in ("link", "replace", "remove", "fsync"):
        there = getattr(os, name)

        def looked(*arguments, there=there):
            with open(scene, "rb") as file:
                seen.append(file.read())
            there(*arguments)
            with open(scene, "rb") as file:
                seen.append(file.read())

        monkeypatch.setattr(files.os, name, looked)
    replaced(scene, b"new", versions=2)
    assert len(seen) > 8 and set(seen) == {b"old", b"new"}
    assert seen == sorted(seen, reverse=True)  # old until the one step, new from then on


def test_versions_are_kept_where_files_cannot_have_two_names(scene, monkeypatch):
    def refuse(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(files.os, "link", refuse)
    replaced(scene, b"new")
    assert contents(scene) == {"scene.blend": b"new", "scene.blend1": b"old"}


def test_a_version_that_is_the_same_file_is_no_hindrance(scene):
    os.link(scene, f"{scene}1")  # as a run that was killed just before the one step leaves it
    replaced(scene, b"new")
    assert contents(scene) == {"scene.blend": b"new", "scene.blend1": b"old"}


def test_the_permissions_stay(scene):
    os.chmod(scene, 0o640)
    replaced(scene, b"new")
    assert stat.S_IMODE(os.stat(scene).st_mode) == 0o640


def test_a_temporary_file_is_new_has_another_name_each_time_and_goes(scene):
    used = set()
    for _ in range(20):
        with files.temporary(scene, ".blend") as written:
            assert os.path.getsize(written) == 0
            open(f"{written}@", "w").close()  # where Blender writes
            used.add(written)
    assert len(used) == 20
    assert names(scene) == ["scene.blend"]


def test_a_temporary_name_that_somebody_has_is_not_taken(scene, monkeypatch):
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "0" * 16)
    with files.temporary(scene, ".blend") as written:
        with pytest.raises(FileExistsError), files.temporary(scene, ".blend"):
            pass
        assert os.path.exists(written)


def test_a_second_process_gets_a_sentence(scene):
    with files.locked(scene):
        with pytest.raises(IK2DError, match="scene.blend' is being written by another ik2d process; wait"):
            with files.locked(scene):
                pass
        with files.locked(scene.replace("scene", "other")):  # another file is not held
            pass
    assert names(scene) == ["scene.blend"]


def test_what_killed_runs_left_of_this_file_is_cleared_away_and_nothing_else(scene):
    folder = os.path.dirname(scene)
    with files.temporary(scene, ".blend") as written:
        mine = os.path.basename(written)
    others = [".ik2d-0123456789ab-0123456789abcdef.blend", f"{mine}x", "scene.blend@", "r.json.part"]
    for name in (mine, f"{mine}@", mine.replace(".blend", ".tmp"), *others):
        open(os.path.join(folder, name), "w").close()
    with files.locked(scene):
        pass
    assert names(scene) == sorted([*others, "scene.blend"])


def test_what_is_no_regular_file_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/null"):
        with pytest.raises(IK2DError, match="is no regular file"):
            files.check_can_write(path)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.mark.parametrize(
    "folder, name, fits",
    [(0, 254, True), (0, 255, False), (0, 300, False), (800, 100, True), (980, 10, False), (910, 120, False)],
)
def test_paths_longer_than_can_be_written_are_refused(tmp_path, folder, name, fits):
    place = str(tmp_path)
    while len(place) < folder:
        place += "/" + "f" * max(1, min(200, folder - len(place) - 1))
    os.makedirs(place, exist_ok=True)
    path = os.path.join(place, "n" * (name - 6) + ".blend")
    if fits:
        files.check_can_write(path)
        with files.locked(path), files.temporary(path, ".blend") as written:
            assert len(written) < 1023  # what Blender takes, with its own @
    else:
        with pytest.raises(IK2DError, match="is longer than can be written"):
            files.check_can_write(path)


def test_a_name_that_can_be_none_is_refused():
    with pytest.raises(IK2DError, match="cannot be the name of a file"):
        files.absolute("a\0b")


def test_the_reason_is_the_systems(scene, monkeypatch):
    assert files.why_not_written(scene, 5 << 20) == ""
    assert names(scene) == ["scene.blend"]

    class Full:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "open", Full, raising=False)
    assert files.why_not_written(scene, 10) == "No space left on device"
    assert names(scene) == ["scene.blend"]


def lock_of(scene: str) -> str:
    with files.locked(scene):
        (name,) = [name for name in names(scene) if name.endswith(".lock")]
    return os.path.join(os.path.dirname(scene), name)


def test_a_link_at_the_locks_name_is_refused_and_creates_nothing(scene):
    lock = lock_of(scene)
    os.symlink("elsewhere", lock)
    for refused in (lambda: files.check_free(scene), files.locked(scene).__enter__):
        with pytest.raises(IK2DError, match=r"scene\.blend' cannot be written .*\.lock'\); remove that link"):
            refused()
    assert names(scene) == sorted([os.path.basename(lock), "scene.blend"])


def test_a_folder_at_the_locks_name_is_named(scene):
    lock = lock_of(scene)
    os.mkdir(lock)
    with pytest.raises(IK2DError, match=r"Is a directory: .*\.lock'\); remove that file"):
        files.locked(scene).__enter__()


def test_what_cannot_be_cleared_away_is_named_and_the_rest_goes(scene, monkeypatch, capsys):
    """As in a sticky folder, where others' files cannot be removed."""
    stem = lock_of(scene).removesuffix(".lock")
    left = [f"{stem}-{digit * 16}.blend" for digit in "012"]
    for path in left:
        open(path, "w").close()
    remove = os.remove

    def refuse(path):
        if path in (left[1], f"{stem}.lock"):
            raise PermissionError(1, "Operation not permitted")
        remove(path)

    monkeypatch.setattr(os, "remove", refuse)
    with files.locked(scene):
        pass
    stay = [f"{stem}.lock", left[1]]
    assert names(scene) == sorted([*map(os.path.basename, stay), "scene.blend"])
    told = capsys.readouterr().err.splitlines()
    for path in stay:
        assert f"ik2d: warning: '{path}', which another run left, cannot be removed; its owner can" in told
    assert len(told) == 2


@pytest.mark.parametrize(("sticky", "owner", "refused"), [(1, 1, True), (0, 1, False), (1, 2, False)])
def test_anothers_file_in_a_sticky_folder_is_refused_at_once(scene, monkeypatch, sticky, owner, refused):
    class Found:
        def __init__(self, path):
            is_folder = not path.endswith(".blend")
            self.st_mode = 0o40777 | sticky * stat.S_ISVTX if is_folder else 0o100666
            self.st_uid = 0 if is_folder else owner

    monkeypatch.setattr(files.os, "geteuid", lambda: 2)
    monkeypatch.setattr(files.os, "stat", lambda path, **_: Found(path))
    assert files._may_replace(scene, os.path.dirname(scene)) != refused
