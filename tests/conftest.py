"""What all tests share: how thoroughly Hypothesis looks."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", parent=settings.get_profile("thorough"), max_examples=10)
settings.load_profile("fast" if os.environ.get("FAST") else "thorough")
