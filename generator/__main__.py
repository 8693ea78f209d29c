"""`python -m generator` is `trainyard`."""

from __future__ import annotations

import sys

from generator.cli.main import main

sys.exit(main())
