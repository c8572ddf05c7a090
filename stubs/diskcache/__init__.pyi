"""The part of diskcache that roamtui uses; diskcache itself has no types."""

from diskcache.core import Cache as Cache
from diskcache.core import Disk as Disk
from diskcache.core import Timeout as Timeout
