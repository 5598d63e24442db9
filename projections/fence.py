"""The fence between the projector and the eraser.

Whoever writes rows of a partition holds its advisory lock *shared*, from before it reads key states
until it has committed. Whoever destroys keys and deletes rows holds it *exclusive*. So no row is
written under a key state that was read before a destruction, and committed after it.
"""

from typing import Final

FENCE_LOCK_CLASS: Final = 0x6D656D6C
"""The first of the two numbers of the lock (the letters ``meml``); the second is the partition."""
