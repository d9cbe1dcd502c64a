"""Game controllers, through pygame's SDL."""
