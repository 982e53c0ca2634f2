"""The command `headrace`, also as `python -m headrace`. Its own packages are those of the extra headrace[cli]."""

import sys


def main():
    """Runs the command line; exits the process."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        sys.exit(f"headrace: the command needs the package {error.name}: pip install 'headrace[cli]'")
    from .cli import command

    command(prog_name="headrace")


if __name__ == "__main__":
    main()
