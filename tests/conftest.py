"""What holds for every test."""

from hypothesis import settings

# A slow or busy machine must not fail a property: time is the business of `make bench`.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
