"""Reading attention: the tap, calls that know every weight, readings, rows, maps and statistics."""
