"""From a URDF to a MuJoCo model with servos, grippers, and a little world around it.

Shared by the ``mujoco`` follower and by emulators of real arms. Knows nothing of
paprle; needs the ``mujoco`` package, and no renderer.
"""
