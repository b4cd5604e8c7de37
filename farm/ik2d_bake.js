// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3.5 and later: bakes the chains of the submitted scene, and of more scenes if any are
// named, a task for each; then gathers the reports, and fails where a tip is further from its target than Max
// Error. README.md beside this file says how to install it.

const JOB_TYPE = {
    label: "IK 2D Bake",
    description: "Bake the IK 2D chains of one or more scenes, and check how near all tips are to their targets",
    settings: [
        { key: "output_folder", type: "string", subtype: "dir_path", required: true,
          eval: "bpy.path.abspath('//baked')",
          description: "Folder that all workers reach, for the baked scenes and the reports" },
        { key: "more_scenes", type: "string", default: "", visible: "submission",
          description: "More scenes to bake with the same options: paths that all workers reach, with ; between" },
        { key: "frames", type: "string", default: "",
          description: "Frames to bake, such as 1:250 or 1:250:2. Empty: each scene's range" },
        { key: "armature", type: "string", default: "",
          description: "Armature to bake. Empty: all that have enabled chains" },
        { key: "chain", type: "string", default: "", description: "Chain to bake. Empty: all that are enabled" },
        { key: "reduce", type: "string", default: "",
          description: "Leave out keys as long as the tip strays no further than this length. Empty: keep all" },
        { key: "target_keys", type: "bool", default: false,
          description: "Key only the frames on which the target or the pole has keys" },
        { key: "single_axis", type: "bool", default: false,
          description: "Give each bone one Euler angle curve where possible; changes rotation modes" },
        { key: "ease_flips", type: "bool", default: false,
          description: "Turn planes that follow a target or a pole smoothly where they would flip" },
        { key: "verify", type: "string", choices: ["SAMPLE", "ALL", "NONE"], default: "SAMPLE",
          description: "Play back a sample of the frames and measure them, all, or none" },
        { key: "max_error", type: "string", default: "",
          description: "Fail if a tip is further from its target than this length. Empty: do not check" },
        { key: "enable_autoexec", type: "bool", default: false,
          description: "Trust the files: run the Python in their drivers" },
        { key: "force", type: "bool", default: false,
          description: "Bake with warnings what needs a missing library or a blocked driver" },

        { key: "blendfile", type: "string", required: true, visible: "web",
          description: "The scene that was submitted" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const scenes = scenesOf(settings);
    const reports = [];
    const bakes = scenes.map((scene) => {
        const name = nameOf(scene);
        const report = path.join(settings.output_folder, name + ".json");
        reports.push(report);
        const output = path.join(settings.output_folder, name + ".blend");
        return bakeTask(settings, scene, name, output, report);
    });
    const gather = gatherTask(settings, reports);
    for (const bake of bakes) {
        gather.addDependency(bake);
        job.addTask(bake);
    }
    job.addTask(gather);
}

// The submitted scene, then the others; refused where two would be baked to one place, or one over itself.
function scenesOf(settings) {
    const others = settings.more_scenes || "";
    const scenes = [settings.blendfile].concat(others.split(";").map((one) => one.trim())).filter((one) => one);
    const names = new Set();
    for (const scene of scenes) {
        const name = nameOf(scene);
        if (names.has(name)) {
            throw new Error(`two scenes are called ${name}; submit them as two jobs with two output folders`);
        }
        names.add(name);
        if (path.dirname(scene) === path.join(settings.output_folder, ".")) {
            throw new Error(`the output folder is that of ${scene}; choose another one`);
        }
    }
    return scenes;
}

// Flamenco's add-on saves what it submits as NAME.flamenco.blend.
function nameOf(scene) {
    return path.stem(scene).replace(/\.flamenco$/, "");
}

function bakeTask(settings, scene, name, output, report) {
    const args = ["--command", "ik2d", "bake", "--output=" + output, "--report=" + report];
    for (const [option, value] of [
        ["--frames", settings.frames],
        ["--armature", settings.armature],
        ["--chain", settings.chain],
        ["--reduce", settings.reduce],
        ["--verify", settings.verify],
    ]) {
        if (value) {
            args.push(option + "=" + value);
        }
    }
    for (const [option, wanted] of [
        ["--target-keys", settings.target_keys],
        ["--single-axis", settings.single_axis],
        ["--ease-flips", settings.ease_flips],
        ["--force", settings.force],
    ]) {
        if (wanted) {
            args.push(option);
        }
    }
    const task = author.Task("bake-" + name, "blender");
    task.addCommand(
        author.Command("blender-render", {
            exe: "{blender}",
            exeArgs: "{blenderArgs}",
            argsBefore: settings.enable_autoexec ? ["--background", "--enable-autoexec"] : ["--background"],
            blendfile: scene,
            args: args,
        })
    );
    return task;
}

function gatherTask(settings, reports) {
    const summary = path.join(settings.output_folder, "ik2d_summary.json");
    const limit = settings.max_error ? ["--max-error=" + settings.max_error] : [];
    const task = author.Task("gather-reports", "blender");
    task.addCommand(
        author.Command("exec", {
            exe: "{blender}",
            args: ["--background", "--command", "ik2d", "gather", "--report=" + summary]
                .concat(limit)
                .concat(reports),
        })
    );
    return task;
}
