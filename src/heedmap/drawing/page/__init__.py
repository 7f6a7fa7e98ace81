"""The page: one self-contained HTML file, or a cell in a notebook, in which a reading can be looked through."""
