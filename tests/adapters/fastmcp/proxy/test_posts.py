"""Posts over kept connections, to servers that do what HTTP allows, and what it does not."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from processes import free_port

from mcp_lenient.adapters.fastmcp.proxy import posts
from mcp_lenient.adapters.fastmcp.proxy.posts import Posts, Reach

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"


class _Server:
    """Sends what it is given, one for each request; None closes the connection."""

    def __init__(self, *answers: bytes | None) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length: ")[1].split()[0])
                self.requests.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0)
                if answer is None:
                    break
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def _posting(server: _Server, *, read: float = 5.0, secure: Any = None, verify: Any = True):
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=secure)
    port = listening.sockets[0].getsockname()[1]
    url = httpx2.URL(f"{'https' if secure else 'http'}://127.0.0.1:{port}/mcp?a=b")
    client = Posts(url, Reach(verify, 5.0, read))
    try:
        yield client
    finally:
        client.close()
        listening.close()


async def _post(client: Posts, body: bytes = b"{}") -> bytes:
    answer = await client.post([(b"x-key", b"value")], body)
    async with aclosing(answer.body):
        return b"".join([chunk async for chunk in answer.body])


async def test_a_request_is_whole():
    """A request has its path, host, headers, length and body."""
    server = _Server(_OK)
    async with _posting(server) as client:
        assert await _post(client, b'{"a": 1}') == b"ok"
    (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"post /mcp?a=b http/1.1"
    assert {b"x-key: value", b"content-length: 8"} < set(lines[1:])
    assert lines[1].startswith(b"host: 127.0.0.1:")
    assert body == b'{"a": 1}'


@pytest.mark.parametrize("answer", [_OK, _HEAD + b"0\r\n\r\n"], ids=["length", "chunks"])
async def test_a_connection_serves_many_requests(answer):
    """Requests one after the other take one connection, at once as many as there are requests."""
    server = _Server(*[answer] * 6)
    async with _posting(server) as client:
        for _ in range(3):
            assert await _post(client) == b"ok"
        assert server.connections == 1
        assert await asyncio.gather(*(_post(client) for _ in range(3))) == [b"ok"] * 3
    assert server.connections == 3


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(_OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1), id="close"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", id="HTTP/1.0"),
        pytest.param(_OK + _OK, id="an answer to nothing"),
    ],
)
async def test_a_connection_is_not_reused(answer):
    """A connection that the server closes, or on which it says more than it was asked, serves no other request."""
    server = _Server(answer, _OK)
    async with _posting(server) as client:
        assert await _post(client) == b"ok"
        await asyncio.sleep(0.05)
        assert await _post(client) == b"ok"
    assert server.connections == 2


async def test_an_idle_connection_is_not_reused(monkeypatch):
    """A connection that was idle for long may be closed by the server at any moment."""
    monkeypatch.setattr(posts, "KEEP_ALIVE", 0.0)
    server = _Server(_OK, _OK)
    async with _posting(server) as client:
        assert [await _post(client), await _post(client)] == [b"ok", b"ok"]
    assert server.connections == 2


async def test_an_answer_without_end_is_left():
    """A body that its reader leaves is waited for shortly; its connection serves no other request."""
    server = _Server(_HEAD, _OK)
    async with _posting(server) as client:
        answer = await client.post([], b"{}")
        assert await answer.body.read() == b"ok"
        await asyncio.wait_for(answer.body.aclose(), 2)
        assert await _post(client) == b"ok"
    assert server.connections == 2


async def test_interim_answers_are_skipped():
    """What comes before the response is not it."""
    async with _posting(_Server(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + _OK)) as client:
        assert await _post(client) == b"ok"


async def test_a_large_answer_arrives_whole():
    """An answer that is much larger than what is kept unread arrives whole, even if it is read slowly."""
    size = 20 * 2**20
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode()
    async with _posting(_Server(head + b"x" * size)) as client:
        answer = await client.post([], b"{}")
        await asyncio.sleep(0.2)
        assert sum([len(chunk) async for chunk in answer.body]) == size


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(None, httpx2.RemoteProtocolError, id="no answer"),
        pytest.param(b"HTTP/1.1 200", httpx2.ReadTimeout, id="half a head"),
        pytest.param(b"no HTTP\r\n\r\n", httpx2.RemoteProtocolError, id="no HTTP"),
        pytest.param(_HEAD, httpx2.ReadTimeout, id="half a body"),
        pytest.param(_HEAD + b"no size\r\n", httpx2.RemoteProtocolError, id="no chunk"),
        pytest.param(b"", httpx2.ReadTimeout, id="silence"),
    ],
)
async def test_errors_are_those_of_httpx(answer, error):
    """What goes wrong is raised as httpx raises it, and the next request is served by another connection."""
    server = _Server(answer, _OK)
    async with _posting(server, read=0.3) as client:
        with pytest.raises(error):
            await _post(client)
        assert await _post(client) == b"ok"


async def test_no_server_is_a_connection_error():
    """Where nobody listens, it is said that nothing was sent."""
    client = Posts(httpx2.URL(f"http://127.0.0.1:{free_port()}/mcp"), Reach(True, 5.0, 5.0))
    with pytest.raises(httpx2.ConnectError):
        await _post(client)


async def test_a_header_cannot_hold_another():
    """A header with a line break is refused before anything is sent."""
    server = _Server(_OK)
    async with _posting(server) as client:
        with pytest.raises(httpx2.LocalProtocolError):
            await client.post([(b"x-key", b"a\r\nx-other: b")], b"{}")
    assert not server.requests


def _certificate(path: Any) -> ssl.SSLContext:
    """A server's context with a certificate for this machine, which is written to a file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.timezone.utc)
    address = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = (
        x509.CertificateBuilder()
        .issuer_name(name)
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


async def test_certificates_are_verified(tmp_path):
    """A server's certificate must be trusted and name the host, unless the operator says otherwise."""
    secure = _certificate(tmp_path / "server.pem")
    trusted = httpx2.create_ssl_context()
    trusted.load_verify_locations(tmp_path / "server.pem")
    server = _Server(_OK, _OK)
    async with _posting(server, secure=secure, verify=False) as client:
        assert await _post(client) == b"ok"
        port = client._url.port
        named = Posts(httpx2.URL(f"https://localhost:{port}/mcp"), Reach(trusted, 5.0, 5.0))
        assert await _post(named) == b"ok"
        named.close()
        for url, verify in ((client._url, trusted), (named._url, True)):
            with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
                await _post(Posts(url, Reach(verify, 5.0, 5.0)))
    assert server.connections == 2
