"""The course as a site: one self-contained HTML file a lesson, which works from a folder, with no network."""
