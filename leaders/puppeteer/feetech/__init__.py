"""Feetech servos of a puppeteer: bus, calibration and set-up."""
