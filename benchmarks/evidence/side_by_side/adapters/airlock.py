"""agent-airlock: a decorated function, called with the arguments, without its audit file."""

import logging
import warnings
from functools import partial

from agent_airlock import Airlock, AirlockConfig
from loop import RefusedError, serve

from benchmarks.signatures import plain, recording_function

CONFIG = AirlockConfig(enable_audit_log=False)  # otherwise it writes a file into the current folder


def build(schemas, _request):
    """Return calls with one decorated function per schema."""
    calls = []
    for schema in schemas:
        received = []
        function = recording_function(schema, received.append, sync=True)
        calls.append(partial(_call, Airlock(config=CONFIG)(function), received))
    return calls


def _call(function, received, arguments):
    function(**arguments)
    if not received:  # it returns a special value for a refusal
        raise RefusedError
    return received.pop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    serve(build, plain, ("agent-airlock",), objects=True)
