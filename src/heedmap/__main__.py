"""Makes `python -m heedmap` the same as `heedmap`."""

from heedmap.cli.main import run

if __name__ == "__main__":
    run()
