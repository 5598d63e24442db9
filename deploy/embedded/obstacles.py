"""Why this machine cannot run the embedded broker, asked before anything is started."""

from deploy.embedded.errors import (
    DataDirectoryNotWritableError,
    EmbeddedStoreError,
    JarsUnavailableError,
    PrerequisiteMissingError,
)
from deploy.embedded.jars import resolve_jars
from deploy.embedded.java import find_java


def obstacle_to_the_broker() -> EmbeddedStoreError | None:
    """Find what keeps the embedded broker from running here; fetch its jars where nothing does.

    Returns:
        What this machine lacks: a Java that is new enough, the jars and a Maven that delivers them,
        or a place to keep them. None where the broker can run.

    Raises:
        EmbeddedStoreError: Anything else, such as a jar with another content than the pinned one,
            which is no reason to look for another broker.
    """
    try:
        find_java()
        resolve_jars()
    except (PrerequisiteMissingError, JarsUnavailableError, DataDirectoryNotWritableError) as error:
        return error
    return None
