"""A picture turned to where the head looks by the time that it is shown (T15).

A turn of the head alone moves every pixel in the same way, however far what it shows
is: by the homography K R K⁻¹. What a head moves sideways cannot be made up for without
depth, and is not.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec


def compute_reprojection(K: Vec, R_world_drawn: Vec, R_world_shown: Vec) -> Vec:
    """Return where pixels of a picture belong once the head has turned.

    Args:
        K: Pinhole model, shape (3, 3), [px].
        R_world_drawn: The eye's rotation when the picture was drawn, shape (3, 3); its
            axes are those of images, x to the right, y down, z ahead.
        R_world_shown: Its rotation when the picture is shown.

    Returns:
        Homography H, shape (3, 3): a pixel (u, v, 1) is shown at H (u, v, 1).
    """
    R_shown_drawn = R_world_shown.T @ R_world_drawn
    H: Vec = K @ R_shown_drawn @ np.linalg.inv(K)
    return H


def move_pixels(H: Vec, pixels: Vec) -> Vec:
    """Return where pixels are shown.

    Args:
        H: Homography, shape (3, 3).
        pixels: Shape (n, 2), [px].

    Returns:
        Shape (n, 2); NaN for those that are behind the eye by then.
    """
    rays = np.column_stack([pixels, np.ones(len(pixels))]) @ H.T
    rays[rays[:, 2] <= 0.0] = np.nan
    moved: Vec = rays[:, :2] / rays[:, 2:]
    return moved
