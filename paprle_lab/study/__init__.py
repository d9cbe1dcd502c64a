"""Studies with people: who does what in which order, their answers, tables for R."""
