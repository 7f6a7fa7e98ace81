"""The application's page: a shell without any code or style in it, and the files of the bundle."""

from __future__ import annotations

from html import escape

from heedmap.drawing.page.bundle import FOLDER

FILES = {
    "application.js": (FOLDER / "application.js", "text/javascript"),
    "application.css": (FOLDER / "application.css", "text/css"),
    "course.js": (FOLDER / "course.js", "text/javascript"),
    "course.css": (FOLDER / "course.css", "text/css"),
}
"""What the page may load, by name: path and media type."""

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="heedmap-token" content="{token}">
<meta name="color-scheme" content="light dark">
<title>Heedmap</title>
<link rel="stylesheet" href="/files/application.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="heedmap"></div>
<noscript>Heedmap's page draws with JavaScript, which is turned off here.</noscript>
<script type="module" src="/files/application.js"></script>
</body>
</html>
"""


def application_html(token: str) -> str:
    """The shell, with the token that its requests must carry."""
    return _HTML.format(token=escape(token))
