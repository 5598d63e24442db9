"""What an eraser does to a user, step by step, for tests of what it leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from uuid import UUID

from schemas.keyring import Keyring, SubjectKeys
from schemas.log.sealed import LogRecord
from schemas.settings import DEFAULT_TENANT
from schemas.topics import FILES, TURNS, memories_topic, proposals_topic
from tests.support.compaction import bury, of_subject
from tests.support.pipeline_site import GENERATION, PipelineSite

TOPICS = (TURNS, FILES, proposals_topic(GENERATION), memories_topic(GENERATION))


def keys_of(site: PipelineSite, users: Iterable[str]) -> dict[str, SubjectKeys]:
    """Return the keys of users that have turns."""

    async def ask() -> dict[str, SubjectKeys]:
        keyring = await Keyring.open(site.addresses.keyring_url, site.settings.keys_home)
        try:
            return await keyring.subjects_for(DEFAULT_TENANT, list(users), create=False)
        finally:
            await keyring.close()

    return asyncio.run(ask())


def erase(site: PipelineSite, users: Iterable[str]) -> list[LogRecord]:
    """Destroy users' keys, delete their rows and bury their records, which are returned."""
    subjects = [keys.subject for keys in keys_of(site, users).values()]
    asyncio.run(_destroy(site, subjects))
    with site.read_model() as connection:
        named = "{" + ",".join(map(str, subjects)) + "}"
        connection.execute("SELECT set_config('memledger.subjects', %s, false)", (named,))
        for table in (
            "memories",
            "turns",
            "waiting_turns",
            "flags",
            "rejections",
            "suppressions",
            "files",
            "file_history",
            "file_results",
            "file_views",
            "session_summaries",
            "summary_sources",
            "due_summaries",
        ):
            connection.execute(f"DELETE FROM {table} WHERE subject = ANY (%s)", (subjects,))  # noqa: S608 - one of these names
    records = [
        record
        for topic in TOPICS
        for everything in [site.records(topic)]
        for subject in subjects
        for record in of_subject(everything, subject)
    ]
    bury(site.bootstrap, records)
    return records


async def _destroy(site: PipelineSite, subjects: Iterable[UUID]) -> None:
    keyring = await Keyring.open(site.addresses.keyring_url, site.settings.keys_home)
    try:
        for subject in subjects:
            await keyring.destroy(subject)
    finally:
        await keyring.close()
