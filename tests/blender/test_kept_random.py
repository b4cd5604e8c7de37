# SPDX-License-Identifier: GPL-3.0-or-later
"""No sequence of bakes, plantings, switches and edits loses a key that somebody made without naming it.

IK2D_FIRST and IK2D_SEQUENCES choose other sequences than the first ones.
"""

import os

import pytest
from kept_sequences import Loss, Sequence

FIRST, COUNT = int(os.environ.get("IK2D_FIRST", "0")), int(os.environ.get("IK2D_SEQUENCES", "300"))


@pytest.mark.slow
def test_nothing_that_somebody_made_is_lost(some, tmp_path):
    failed, compared = [], 0
    count = COUNT if "IK2D_SEQUENCES" in os.environ else some(COUNT, 30)
    for seed in range(FIRST, FIRST + count):
        try:
            compared += Sequence(seed, tmp_path).run()
        except Loss as loss:
            failed.append(str(loss))
        except Exception as error:
            pytest.fail(f"seed {seed}: {error!r}")
    assert not failed, f"{len(failed)} of {count}:\n" + "\n".join(failed)
    assert compared > 20 * count
