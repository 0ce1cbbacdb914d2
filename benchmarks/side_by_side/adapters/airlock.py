"""agent-airlock: the function under its decorator, its audit file off, called with the arguments."""

import logging
import warnings
from functools import partial

from agent_airlock import Airlock, AirlockConfig
from loop import RefusedError, UnsupportedError, serve
from pydantic_types import plain
from python_types import recording_function

CONFIG = AirlockConfig(enable_audit_log=False)  # it would write a file beside whoever measures


def build(schemas, request):
    """One decorated function a schema."""
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
    if not received:  # it answers a refusal with a value of its own
        raise RefusedError
    return received.pop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    serve(build, plain, ("agent-airlock",))
