"""Run the command line as ``python -m pairup``."""

from pairup.cli import main

if __name__ == "__main__":
    main()
