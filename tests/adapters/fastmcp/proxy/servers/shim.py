"""Forward all messages between a client and a stdio server, and record those sent to the server.

python shim.py RECORD COMMAND ARGUMENTS...
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def _pass_on(source: IO[bytes], sink: IO[bytes]) -> None:
    while line := source.readline():
        sink.write(line)
        sink.flush()


def main(record: Path, command: list[str]) -> int:
    """Forward lines until the client closes its end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:  # noqa: S603
        assert server.stdin is not None
        assert server.stdout is not None
        answers = threading.Thread(target=_pass_on, args=(server.stdout, sys.stdout.buffer), daemon=True)
        answers.start()
        with record.open("a", encoding="utf-8") as file:
            while line := sys.stdin.buffer.readline():
                message = json.loads(line)
                file.write(
                    json.dumps({"method": message.get("method"), "params": message.get("params")}) + "\n"
                )
                file.flush()
                server.stdin.write(line)
                server.stdin.flush()
        server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
