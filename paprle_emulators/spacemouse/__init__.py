"""An emulated six-axis mouse behind hidraw."""
