"""Writes the generated parts of README and docs: outputs, command reference, schemas, conformance, pictures, examples.

`make docs` writes them all, `make readme` those of the README; the tests build them again and fail when what is
committed is stale.

A file docs/snippets/*.console holds lines `$ heedmap ...`, each followed by what it prints; see docs/running.py. Beside
a file docs/snippets/*.py lies what it prints, as *.txt. Pages show these files between marks; see docs/marked.py.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from docs.marked import files, write_files, write_part  # noqa: E402
from docs.running import EXAMPLES, SNIPPETS, run_notebook, run_python, transcript, working_folder  # noqa: E402
from docs.vision import files_for  # noqa: E402

README = ROOT / "README.md"
REFERENCE = ROOT / "docs" / "cli.md"
CONFORMANCE = ROOT / "docs" / "conformance.md"
LESSONS = ROOT / "docs" / "lessons.md"
SCHEMAS = ROOT / "docs" / "schemas.md"
IMAGES = ROOT / "docs" / "images"
PICTURE = IMAGES / "trophy.png"
GALLERY = SNIPPETS / "gallery"
TROPHY = "The trophy did not fit in the suitcase because it was too big."


def all_pages() -> list[Path]:
    """The README and every page of the site."""
    return [README, *sorted((ROOT / "docs").glob("**/*.md"))]


def command_reference() -> str:
    """The help of every command as one page."""
    from heedmap.cli.main import heedmap

    pages = ["# Command reference", "", "Written by `make docs` from the commands' own help.", ""]

    def describe(name: str, command: click.Command, parent: click.Context | None = None) -> None:
        settings = {"terminal_width": 80, "max_content_width": 80, **command.context_settings}
        context = click.Context(command, info_name=name, parent=parent, **settings)
        pages.extend([f"## `{context.command_path}`", "", "```text", command.get_help(context), "```", ""])
        if isinstance(command, click.Group):
            for inner_name in command.list_commands(context):
                inner = command.get_command(context, inner_name)
                assert inner is not None
                describe(inner_name, inner, context)

    describe("heedmap", heedmap)
    return "\n".join(line.rstrip() for line in "\n".join(pages).splitlines()) + "\n"


def conformance_page() -> str:
    """The families that are read, each with its agreement with eager attention, measured now."""
    from docs.conformance import measured, page

    return page(measured)


def draw_picture(path: Path) -> None:
    """The map of the trophy sentence that opens the README."""
    import heedmap
    from heedmap.drawing.figures import plot_map, save_figure
    from heedmap.drawing.readings import map_picture

    reading = heedmap.load("smollm2").read(TROPHY, layers=16)
    it_looks_at_trophy = (10, 1)
    figure = plot_map(map_picture(reading.map(16, 3)), highlight=it_looks_at_trophy).get_figure()
    assert figure is not None
    path.parent.mkdir(exist_ok=True)
    save_figure(figure, path)


def gallery() -> list[Path]:
    """What draws the pictures of the gallery, each one of its own name."""
    return sorted([*GALLERY.glob("*.py"), *GALLERY.glob("*.console")])


def draw_gallery(script: Path, to: Path) -> None:
    """Run a script of the gallery, and take the picture that it writes."""
    text = script.read_text(encoding="utf-8")
    with working_folder(files_for(script.stem)) as folder:
        transcript(text) if script.suffix == ".console" else run_python(text, script.name)
        to.parent.mkdir(exist_ok=True)
        to.write_bytes((folder / f"{script.stem}.png").read_bytes())


def write_lessons() -> None:
    """The figures of the course that need a model, and the tables of what lessons may compute and practise."""
    from heedmap.cli.learn_commands import build_figures

    build_figures()
    for name, body in lesson_tables().items():
        write_part(LESSONS, name, body)


def lesson_tables() -> dict[str, str]:
    """What lessons may compute and practise, by the part of docs/lessons.md that holds it."""
    from heedmap.lessons.computations import computations_page
    from heedmap.lessons.exercises.registry import exercises_page

    return {"computations": computations_page(), "exercises": exercises_page()}


def snippet_output(path: Path) -> str:
    """What a snippet shows now: a `.console` file as a whole, or what a `.py` file prints."""
    text = path.read_text(encoding="utf-8")
    with working_folder(files_for(path.stem)) as folder:
        shown = transcript(text) if path.suffix == ".console" else run_python(text, path.name)
    return shown.replace(str(folder), "/home/you/work")


def shown_in(path: Path) -> Path:
    """The file with what a snippet shows; there is none where a program prints nothing."""
    return path if path.suffix == ".console" else path.with_suffix(".txt")


def snippets() -> list[Path]:
    """All commands and programs that are shown with what they print."""
    return sorted([*SNIPPETS.glob("*.console"), *SNIPPETS.glob("*.py"), *EXAMPLES.glob("*.py")])


def write_snippets() -> None:
    """Run every snippet, and write what it prints."""
    for path in snippets():
        write_snippet(path)


def write_gallery() -> None:
    """Every picture of the gallery, and the one of the README."""
    draw_picture(PICTURE)
    for script in gallery():
        draw_gallery(script, IMAGES / "gallery" / f"{script.stem}.png")


def write_snippet(path: Path) -> None:
    """Run one snippet, and write what it prints."""
    shown = snippet_output(path)
    if shown:
        shown_in(path).write_text(shown, encoding="utf-8")


def write_notebooks() -> None:
    """Run every notebook of the examples, and keep what its cells print."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        with working_folder():
            book, printed = run_notebook(path)
        cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        for number, (cell, text) in enumerate(zip(cells, printed, strict=True), 1):
            stream = {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}
            cell |= {"execution_count": number, "outputs": [stream] if text else []}
        path.write_text(json.dumps(book, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_readme() -> None:
    """The README's picture, and the outputs that it shows."""
    draw_picture(PICTURE)
    for path in files(README.read_text(encoding="utf-8")):
        write_snippet(path)


def write_reference() -> None:
    """The pages that are made as a whole from the commands and the schemas."""
    from docs.schema_page import schemas_page

    REFERENCE.write_text(command_reference(), encoding="utf-8")
    SCHEMAS.write_text(schemas_page(), encoding="utf-8")


def write_conformance() -> None:
    """The page of the families that are read."""
    CONFORMANCE.write_text(conformance_page(), encoding="utf-8")


def write_screenshots() -> None:
    """Pictures of the page, which need Chromium."""
    from docs.screenshots import write

    write()


PARTS = {
    "lessons": write_lessons,
    "reference": write_reference,
    "conformance": write_conformance,
    "screenshots": write_screenshots,
    "snippets": write_snippets,
    "gallery": write_gallery,
    "notebooks": write_notebooks,
}
"""What is built by default."""


def build(asked: list[str]) -> None:
    """Write what is asked for: parts, `readme`, or single snippets by their paths; then every page shows its files."""
    parts = {**PARTS, "readme": write_readme}
    for name in asked or PARTS:
        begun = time.monotonic()
        write_snippet(Path(name).resolve()) if Path(name).suffix else parts[name]()
        print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)
    for page in all_pages():
        write_files(page)


if __name__ == "__main__":
    build(sys.argv[1:])
