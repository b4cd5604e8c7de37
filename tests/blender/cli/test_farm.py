# SPDX-License-Identifier: GPL-3.0-or-later
"""The job template and the Flamenco job type: whole, in step with the command line, careful with files."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from ik2d_addon.cli.parser import parsed

ROOT = Path(__file__).resolve().parents[3]
TEMPLATE = ROOT / "farm" / "ik2d_bake.job.yaml"
JOB_TYPE = ROOT / "farm" / "ik2d_bake.js"
TEXT = TEMPLATE.read_text(encoding="utf-8")

needs_openjd = pytest.mark.skipif(not find_spec("openjd"), reason="openjd-cli is not here; make farm has it")
needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="there is no node here to run JavaScript in")

# --- The Open Job Description template ------------------------------------------------------------------


@pytest.mark.slow
@needs_openjd
def test_the_template_is_one_of_2023_09_without_extensions():
    from openjd.model import decode_job_template, document_string_to_object
    from openjd.model._parse import DocumentType

    content = document_string_to_object(document=TEXT, document_type=DocumentType.YAML)
    template = decode_job_template(template=content, supported_extensions=[])
    assert [step.name for step in template.steps] == ["Bake", "Gather"]


def test_every_parameter_that_is_used_is_defined_and_every_one_defined_is_used():
    assert TEXT.count("specificationVersion: jobtemplate-2023-09") == 1
    head = TEXT[TEXT.index("parameterDefinitions:") : TEXT.index("steps:")]
    defined = re.findall(r"^  - name: (\w+)$", head, re.MULTILINE)
    used = set(re.findall(r"{{Param\.(\w+)}}", TEXT))
    assert set(defined) == used and len(defined) == len(used)
    assert set(re.findall(r"{{Task\.[\w.]+}}", TEXT)) == {
        "{{Task.File.Bake}}",
        "{{Task.File.Gather}}",
        "{{Task.Param.Number}}",
    }


def script(name: str) -> str:
    """Return the script of a step, as a worker gets it."""
    found = re.search(
        rf"- name: {name}\n +filename:.*\n +type: TEXT\n +data: \|\n((?: {{12}}.*\n|\n)+)", TEXT
    )
    text = textwrap.dedent(found[1])
    assert "{{" not in text  # what the user gives is passed on as words, never pasted into a script
    return text


def run_step(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a step's script with these words."""
    command = ["bash", "-c", script(name), name, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture
def scenes(tmp_path) -> Path:
    """A folder with two scenes and something else."""
    folder = tmp_path / "my scenes"
    folder.mkdir()
    for name in ("b c.blend", "a.BLEND.blend", "notes.txt"):
        (folder / name).touch()
    return folder


@needs_bash
def test_each_task_bakes_its_scene_to_the_output_folder(scenes, tmp_path):
    out = tmp_path / "out $(touch hurt)"
    command, options = "printf '%s\\n' 'blender 5' --background", "--chain 'Arm L' --reduce 0.1 --chain A*"
    called = []
    for number in (1, 2):
        done = run_step("Bake", scenes, "*.blend", out, "{name}_2.blend", number, 2, command, options)
        assert done.returncode == 0, done.stderr
        called.append(done.stdout.splitlines())
    given = ["blender 5", "--background", "bake", "--chain", "Arm L", "--reduce", "0.1", "--chain", "A*"]
    places = [f"--output={out}/{{name}}_2.blend", f"--report={out}/{{name}}.json", "--"]
    assert called == [[*given, *places, str(scenes / name)] for name in ("a.BLEND.blend", "b c.blend")]
    assert out.is_dir() and not list(Path().glob("hurt"))
    options = parsed(called[0][2:], opens_scene=True)
    assert options.scenes == [str(scenes / "a.BLEND.blend")] and options.chains == ["Arm L", "A*"]


@needs_bash
def test_without_options_there_are_none(scenes, tmp_path):
    words = (scenes, "b*.blend", tmp_path / "out", "{name}.blend", 1, 1, r"printf %s\\n", "")
    done = run_step("Bake", *words)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "bake", done.stderr
    # bash before 4.4 takes an empty array for one that is not set, and ends
    assert '"${options[@]}"' not in script("Bake").replace('${options[@]+"${options[@]}"}', "")
    assert '"${limit[@]}"' not in script("Gather").replace('${limit[@]+"${limit[@]}"}', "")


@needs_bash
def test_a_job_that_would_leave_out_a_scene_or_write_over_one_fails(scenes, tmp_path):
    out = tmp_path / "out"
    for words, complaint in (
        ((scenes, "*.blend", out, "{name}.blend", 1, 3, "false", ""), "there are 2 scenes '*.blend'"),
        ((scenes, "*.blend", out, "{name}.blend", 1, 1, "false", ""), "SceneCount is 1"),
        ((scenes, "*.blend", out, "all.blend", 1, 2, "false", ""), "put {name} in it"),
        ((scenes, "*.blend", f"{scenes}/.", "{name}.blend", 1, 2, "false", ""), "choose another one"),
    ):
        done = run_step("Bake", *words)
        assert (done.returncode, complaint in done.stderr) == (2, True), done.stderr
    done = run_step("Gather", scenes, "*.blend", out, "all.json", 1, "false", "")
    assert done.returncode == 2 and "there are 2 scenes" in done.stderr


@needs_bash
def test_the_last_step_gathers_the_report_of_every_scene(scenes, tmp_path):
    words = (scenes, "*.blend", tmp_path, "all.json", 2, "printf '%s\\n'", "0.001")
    called = run_step("Gather", *words).stdout.splitlines()
    reports = [str(tmp_path / name) for name in ("a.BLEND.json", "b c.json")]
    assert called[0] == "gather" and sorted(called[-2:]) == reports
    options = parsed(called, opens_scene=True)
    assert options.max_error == 0.001 and options.report == str(tmp_path / "all.json")
    assert sorted(options.reports) == reports
    assert parsed(run_step("Gather", *words[:-1], "").stdout.splitlines(), True).max_error is None


@needs_bash
def test_the_exit_code_of_a_bake_is_that_of_its_task(scenes, tmp_path):
    words = (scenes, "*.blend", tmp_path / "out", "{name}.blend", 1, 2, f"{sys.executable} -c 'exit(7)'", "")
    assert run_step("Bake", *words).returncode == 7


# --- The Flamenco job type -------------------------------------------------------------------------------

# As much of Flamenco's scripting as its documentation and its own job types show.
FLAMENCO = """
const fs = require("fs"), vm = require("vm"), p = require("path").posix;
class Task {
    constructor(name, type) {
        if (!name || !type) throw new Error("a task has a name and a type");
        Object.assign(this, { name, type, commands: [], dependencies: [] });
    }
    addCommand(command) { this.commands.push(command); }
    addDependency(task) { this.dependencies.push(task.name); }
}
const tasks = [];
const world = {
    print: () => {},
    path: { basename: p.basename, dirname: p.dirname, join: p.join, stem: (f) => p.parse(f).name },
    author: { Task: (n, t) => new Task(n, t), Command: (name, parameters) => ({ name, parameters }) },
    job: { settings: JSON.parse(process.argv[2]), addTask: (task) => tasks.push(task) },
    done: {},
};
const source = fs.readFileSync(process.argv[1], "utf-8");
try {
    vm.runInNewContext(source + "; done.type = JOB_TYPE; compileJob(job);", world);
    console.log(JSON.stringify({ type: world.done.type, tasks }));
} catch (error) {
    console.log(JSON.stringify({ type: world.done.type, error: error.message }));
}
"""
ONE = {"blendfile": "/jobs/1/shot 1.flamenco.blend", "output_folder": "/baked"}


def compiled(**settings) -> dict:
    """Return the job type, and the tasks that it makes of a job with these settings, or its error."""
    command = ["node", "-e", FLAMENCO, str(JOB_TYPE), json.dumps({**ONE, **settings})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def options_of(task: dict):
    """Return what our own parser makes of the words that a task gives it."""
    words = task["commands"][0]["parameters"]["args"]
    start = words.index("--command")
    assert words[start + 1] == "ik2d"
    return parsed(words[start + 2 :], opens_scene=False)


@pytest.mark.slow
@needs_node
def test_each_scene_is_a_task_of_blender_and_the_reports_are_gathered_last():
    tasks = compiled(more_scenes="/film/a.blend; /film/b b.blend;")["tasks"]
    *bakes, gather = tasks
    assert [task["name"] for task in tasks] == ["bake-shot 1", "bake-a", "bake-b b", "gather-reports"]
    assert {task["type"] for task in tasks} == {"blender"}
    assert gather["dependencies"] == ["bake-shot 1", "bake-a", "bake-b b"]
    command = tasks[0]["commands"][0]
    assert command["name"] == "blender-render"
    assert command["parameters"]["exe"] == "{blender}"
    assert command["parameters"]["exeArgs"] == "{blenderArgs}"
    assert command["parameters"]["blendfile"] == "/jobs/1/shot 1.flamenco.blend"
    assert command["parameters"]["argsBefore"] == ["--background"]
    for task, name in zip(bakes, ("shot 1", "a", "b b"), strict=True):
        options = options_of(task)
        assert options.scenes == []  # Blender has opened it
        assert (options.output, options.report) == (f"/baked/{name}.blend", f"/baked/{name}.json")
    last = options_of(gather)
    assert last.command == "gather" and last.max_error is None
    assert last.reports == ["/baked/shot 1.json", "/baked/a.json", "/baked/b b.json"]
    assert last.report == "/baked/ik2d_summary.json"


@pytest.mark.slow
@needs_node
def test_every_setting_becomes_the_option_of_its_name():
    given = {
        "frames": "-5:5",
        "armature": "Rig",
        "chain": "-Leg",
        "reduce": "0.01",
        "single_axis": True,
        "ease_flips": True,
        "target_keys": True,
        "verify": "ALL",
        "force": True,
        "enable_autoexec": True,
        "max_error": "0.002",
    }
    job = compiled(**given)
    asked = {setting["key"] for setting in job["type"]["settings"]}
    assert asked == set(given) | {"blendfile", "output_folder", "more_scenes"}
    bake, gather = job["tasks"]
    options = options_of(bake)
    assert (options.frames, options.armature, options.chains) == ((-5, 5, 1), "Rig", ["-Leg"])
    assert (options.reduce, options.verify) == (0.01, "ALL")
    assert options.single_axis and options.ease_flips and options.target_keys and options.force
    assert "--enable-autoexec" in bake["commands"][0]["parameters"]["argsBefore"]  # before the file is opened
    assert options_of(gather).max_error == 0.002
    (verify,) = [setting for setting in job["type"]["settings"] if setting["key"] == "verify"]
    assert {parsed(["bake", "--verify", choice], False).verify for choice in verify["choices"]} == {
        "SAMPLE",
        "ALL",
        "NONE",
    }


@pytest.mark.slow
@needs_node
def test_the_settings_are_of_the_kinds_that_flamenco_knows():
    for setting in compiled()["type"]["settings"]:
        assert setting["type"] in {"string", "int32", "float", "bool"}
        assert setting.get("subtype", "file_path") in {"file_path", "dir_path", "hashed_file_path"}
        assert setting.get("visible", "visible") in {"visible", "hidden", "submission", "web"}
        assert setting["description"] and not setting["description"].endswith(".")
        assert set(setting) <= {
            "key", "type", "subtype", "description", "default", "choices", "required", "visible", "eval"
        }  # fmt: skip


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("folder", ["/film", "/film/"])
def test_no_scene_is_baked_over_itself_or_another(folder):
    assert "is that of /film/a.blend" in compiled(more_scenes="/film/a.blend", output_folder=folder)["error"]
    assert "two scenes are called a" in compiled(more_scenes="/x/a.blend;/y/a.blend")["error"]
    assert "two scenes are called shot 1" in compiled(more_scenes="/x/shot 1.blend")["error"]


# --- Both --------------------------------------------------------------------------------------------------


def test_the_page_names_what_a_studio_sets():
    page = (ROOT / "farm" / "README.md").read_text(encoding="utf-8")
    head = TEXT[TEXT.index("parameterDefinitions:") : TEXT.index("steps:")]
    for name in re.findall(r"^  - name: (\w+)$", head, re.MULTILINE):
        assert f"`{name}`" in page
    assert "was not run here" in page
