# SPDX-License-Identifier: GPL-3.0-or-later
"""Random keys on objects and bones, with what F-Curves may have."""

from ik2d_addon.rig.animation.versions import existing_fcurves

MODES = ('QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE')


def random_values(rng, name, current):
    """Return numbers for a channel: scales near 1, some of them negative, all else at random."""
    if "scale" in name:
        return [rng.choice((1, 1, -1)) * rng.uniform(0.6, 1.6) for _ in current]
    return [rng.uniform(-2.0, 2.0) for _ in current]


def animate(rng, owner, names, often=0.7):
    """Give an object or a bone keys on some of its channels, and numbers to others."""
    for name in names:
        for frame in sorted(rng.sample(range(-5, 40), 4)) if rng.random() < often else [None]:
            setattr(owner, name, random_values(rng, name, getattr(owner, name)))
            if frame is not None:
                owner.keyframe_insert(name, frame=frame)


def vary(rng, ob):
    """Give the F-Curves of an object what F-Curves may have."""
    for curve in existing_fcurves(ob):
        for key in curve.keyframe_points:
            key.interpolation = rng.choice(('BEZIER', 'BEZIER', 'LINEAR', 'CONSTANT', 'SINE', 'ELASTIC'))
            key.handle_left_type = key.handle_right_type = rng.choice(('AUTO_CLAMPED', 'FREE', 'VECTOR'))
            if key.handle_left_type == 'FREE':  # so long that Blender shortens them
                key.handle_left.x, key.handle_right.x = key.co.x - 9.0, key.co.x + 14.0
                key.handle_right.y += rng.uniform(-1.0, 1.0)
        curve.extrapolation = (
            rng.choice(('CONSTANT', 'LINEAR')) if "scale" not in curve.data_path else 'CONSTANT'
        )
        curve.mute = rng.random() < 0.1
        curve.lock = rng.random() < 0.2
        if curve.group is not None and rng.random() < 0.1:
            curve.group.mute = True
        if rng.random() < 0.2:
            curve.modifiers.new('CYCLES')
        elif rng.random() < 0.2 and "scale" not in curve.data_path:
            noise = curve.modifiers.new('NOISE')
            noise.strength, noise.scale = 0.3, 4.0
        curve.update()
