"""The maker's arms over FCI, through ``pylibfranka`` and ``panda_py``.

Their calls hold the GIL, so arm and hand have a process each.
"""
