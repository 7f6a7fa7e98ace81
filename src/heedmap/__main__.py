"""The command `heedmap`, and `python -m heedmap`."""

import os


def run() -> None:
    """Run the command line; an interrupt while its code is still being loaded ends it as every other does."""
    try:
        from heedmap.cli.main import run as run_command
    except KeyboardInterrupt:
        os.write(2, b"heedmap: interrupted\n")
        os._exit(130)
    run_command()


if __name__ == "__main__":
    run()
