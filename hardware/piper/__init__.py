"""The AgileX PiPER's CAN bus: frames, the vendor's SDK, and an emulated arm."""
