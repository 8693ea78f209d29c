"""`python -m trainyard` is `trainyard`: from the first line of `main`, Ctrl-C prints no traceback.

Before that Python itself answers, so this module imports nothing that is not there at its start,
not even `__future__`: less than a millisecond is left.
"""

import sys


def main() -> int:
    """Run the command line that the process was started with and return its exit code."""
    try:
        # Most of a short run are imports, so that they are inside.
        from trainyard.cli import interrupt  # noqa: PLC0415

        with interrupt.at_once():
            from trainyard.cli.main import main as command  # noqa: PLC0415
        interrupt.remember()
        code = command()
        interrupt.finish()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("\ninterrupted\n")
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
