"""Poses of AprilTags and ArUco markers."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Poses of AprilTag or ArUco markers: of a camera, a picture, a list.",
    config="paprle.advisors.markers.config:MarkersConfig",
    factory="paprle.advisors.markers.advisor:Markers",
    verified="simulator",
    install="pip install 'paprle[cameras]'",
    packages=("cv2",),
)
