"""Force feedback: laws, stability, passivity and rendering."""
