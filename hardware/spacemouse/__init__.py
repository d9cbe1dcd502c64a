"""3Dconnexion's mice of six axes, through hidapi."""
