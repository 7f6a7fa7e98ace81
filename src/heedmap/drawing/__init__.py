"""Pictures of attention: bars and grids in the terminal, figures in files, tables for other programs."""
