"""An emulated Franka Research 3 with its control unit and hand, for ``libfranka``."""
