"""Settings of core and plug-ins."""
