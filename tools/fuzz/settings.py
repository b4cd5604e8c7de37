# SPDX-License-Identifier: GPL-3.0-or-later
"""Files whose settings of the add-on are not what its panel could have made."""

from . import inside, judge
from .case import Case, Outcome, Result

LIMIT = 40.0


def run(case: Case) -> Result:
    """Bake a file with damaged settings, or make its chains native or not."""
    sample = case.random.choice(
        [name for name in sorted(case.samples) if name[:2].isdigit() and " " not in name]
    )
    draw = f"{case.seed} {case.number}"
    scene = case.place / "scene.blend"
    _, done = case.blender.call(inside.save_damaged_settings, case.samples[sample], scene, draw)
    if done is None:
        return case.result(f"{sample}: Blender cannot set them", Outcome.SKIPPED, [])
    what = f"{sample}: {'; '.join(done)}"
    before = judge.files(case.place)
    words = case.random.choice((["bake"], ["bake"], ["native", "--all"], ["native", "--all", "--remove"]))
    ended = case.blender.run([*words, scene], case.place, LIMIT)
    complaints = judge.manners(ended, {0, 2}) + judge.litter(case.place)
    if ended.code in (0, 1):
        complaints += judge.whole([scene], case.blender.look)
    elif not ended.crashed:
        complaints += judge.unchanged(before, case.place)
    return case.of_code(what, complaints, ended)
