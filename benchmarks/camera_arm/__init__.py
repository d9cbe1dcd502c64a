"""Camera arm's view of a hand at work, beside other cameras.

    python -m benchmarks.camera_arm [FILE …] [--seeds 0 1] [--drawn 7 8] [--seconds 20]

Motions are seeded minimum-jerk reaches, or recorded FILEs.
"""
