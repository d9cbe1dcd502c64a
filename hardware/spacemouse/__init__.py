"""3Dconnexion's mice, through hidapi."""
