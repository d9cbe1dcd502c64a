"""Game controllers, through SDL as pygame ships it.

``rack`` are the pads of one leader, ``controls`` what SDL calls their parts,
``virtual`` pads inside SDL that a program moves and feels, ``remote`` one that another
process moves. Nothing here knows of robots, limbs or sessions.
"""
