"""Game controllers, through SDL as pygame ships it."""
