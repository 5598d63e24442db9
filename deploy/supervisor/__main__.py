"""``python -m deploy.supervisor [WORKERS]``: the supervisor as a process of its own."""

from __future__ import annotations

import logging
import sys

from deploy.embedded import EmbeddedStoreError
from deploy.processes.serving import UNUSABLE
from deploy.supervisor.supervisor import HELD, HomeHeld, Supervisor
from schemas.errors import ConfigurationError, MemledgerError
from schemas.settings import Settings


def main() -> None:
    """Run until stopped; what happens is written to standard error, the home's supervisor log."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s supervisor %(levelname)s %(name)s: %(message)s",
    )
    # It tells every request at INFO.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logger = logging.getLogger("supervisor")
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    try:
        settings = Settings.from_environment()
        Supervisor(settings, workers=workers, announce=lambda step: logger.info("%s", step)).run()
    except HomeHeld:
        logger.info("another `up` was first: it has the home")
        sys.exit(HELD)
    except ConfigurationError as error:
        logger.error("cannot run: unusable: %s", error)  # noqa: TRY400 - the message says all
        sys.exit(UNUSABLE)
    except (MemledgerError, EmbeddedStoreError) as error:
        # One line that `up` shows to the person who waits.
        logger.error("cannot run: %s", error)  # noqa: TRY400 - the message says all
        sys.exit(1)


if __name__ == "__main__":
    main()
