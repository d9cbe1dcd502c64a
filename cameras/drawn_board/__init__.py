"""A simulated calibration board."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Simulation: draws a calibration board as the measured robot shows it.",
    config="paprle.cameras.drawn_board.config:DrawnBoardConfig",
    factory="paprle.cameras.drawn_board.camera:DrawnBoard",
    verified="simulator",
    install="pip install 'paprle[cameras]'",
    packages=("cv2",),
)
