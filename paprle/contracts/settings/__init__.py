"""Settings of the core and of plug-ins: frozen classes with units and bounds."""
