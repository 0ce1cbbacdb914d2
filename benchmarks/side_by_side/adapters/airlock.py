"""agent-airlock: a decorated function, called with the arguments, without its audit file."""

import logging
import warnings
from functools import partial

from agent_airlock import Airlock, AirlockConfig
from loop import RefusedError, UnsupportedError, serve
from pydantic_types import plain
from python_types import recording_function

CONFIG = AirlockConfig(enable_audit_log=False)  # otherwise it writes a file into the current folder


def build(schemas, request):
    """Return calls with one decorated function per schema."""
    if not isinstance(request["arguments"], dict):
        msg = "arguments that are no object, within one process"
        raise UnsupportedError(msg)
    if request.get("declared"):
        msg = "aliases and keys to drop"
        raise UnsupportedError(msg)
    calls = []
    for schema in schemas:
        recorder = recording_function(schema, sync=True)
        calls.append(partial(_call, Airlock(config=CONFIG)(recorder.function), recorder.received))
    return calls


def _call(function, received, arguments):
    function(**arguments)
    if not received:  # it returns a special value for a refusal
        raise RefusedError
    return received.pop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    serve(build, plain, ("agent-airlock",))
