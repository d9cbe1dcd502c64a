"""3Dconnexion's mice of six axes, through hidapi.

``reports`` are their bytes, ``device`` one of them, ``emulator`` one whose bytes the
real hidapi reads. Nothing here knows of robots, limbs or sessions.
"""
