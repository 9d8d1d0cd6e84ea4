"""What holds for every test."""

import signal
from contextlib import suppress

from hypothesis import settings

# A slow or busy machine must not fail a property: time is the business of `make bench`.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that starts the tests in the background ignores SIGINT for them and for all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.default_int_handler)
