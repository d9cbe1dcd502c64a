"""How well a camera arm shows a hand at work, beside other cameras.

    python -m benchmarks.camera_arm [FILE …] [--seeds 0 1] [--drawn 7 8] [--seconds 20]

Motions are made here by their seeds, of minimum-jerk reaches, or recorded ones of FILE,
as the leader ``offline`` reads them. The same motions drive the same arm with each way
to look at it.
"""
