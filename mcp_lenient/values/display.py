"""Show values and names that came from a client: bounded, on one line, without secrets."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, Final

from mcp_lenient.types import Path
from mcp_lenient.values.json_values import text_of

_PLAIN_NAME = re.compile(r"[^\W\d][\w$-]*")
MAX_NAME = 64
MAX_SCALAR = 64
_MAX_INTEGER_BITS = 200
LONGEST_TEXT: Final = 128
LONGEST_PART: Final = 64
_MAX_PARTS: Final = 16
LONGEST_POINTER: Final = _MAX_PARTS * (LONGEST_PART + 1) + 1
_MORE: Final = "…"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://\S+", re.IGNORECASE)
_USERINFO = re.compile(r"//[^\s/?#]{0,200}(?::\S{0,200})?\Z")
"""The part of a URI before its host and the ``@``; a password that is not escaped may contain any sign."""
_LONGEST_USERINFO: Final = 403
_SHORTEST_KEY: Final = 20
_KEY_RUN = re.compile(rf"[A-Za-z0-9_-]{{{_SHORTEST_KEY},}}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_FINITE_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_LABEL = re.compile(r"[\w .,/@()+-]{1,128}")
_MODEL = re.compile(r"[\w./@+-]{1,96}(?::[\w.-]{1,31})?")
_TOOL_NAME = re.compile(r"[\w./-]{1,128}")
_KEY = re.compile(r"[$@]?_*[^\W\d_][\w.$-]*|_+|\d{1,6}")
_PAIR = re.compile(r"[{}\":=&]")
"""Separators of a name and its value in JSON, headers and queries."""
_DIGIT_GROUPS = re.compile(r"\d\D+\d+\D+\d")
_DIGIT_RUN = re.compile(r"(?:\d\D*){6}")
HIDDEN = "{…}"
# These lists may only grow: a name that is in none of them is not safe, only unknown.
# Stems that match anywhere in a name, across its words. A stem that is part of a common word excludes that word by
# a lookaround.
_SECRET = re.compile(
    r"passwor[dt]|passwd|passphrase|passcode|passkey|pswd|pwd|kennwort|contrase[nñ]a|senha|wachtwoord|motdepasse"
    r"|lösenord|salasana|пароль|密码|密碼|パスワード|비밀번호"
    r"|secret(?!ar(?:y|ia|ie))|token(?!i[sz])|credential|(?<!sa)(?<!massa)creds"
    r"|authori[sz]ation|authentication|bearer|cookie|jwt|mnemonic|hmac|signature|kubeconfig|keystore|keytab|htpass|pgpass"
    r"|(?:seed|recovery|secret)phrase|(?:recovery|backup|onetime|mfa|auth|security|verification|login)code|onetimepass"
    r"|(?:user|card|atm|account|security|login)pin(?!g)|pin(?:code|number)"
    r"|socialsecurity|(?:credit|debit)card|card(?:number|num)(?!b)|cvc|cvv"
    r"|conn(?:ection)?str|(?:database|db|mongo|postgres|redis|jdbc|webhook|sas|presigned|signed)ur[il]|jdbc"
    r"|(?:db|user|smtp|ftp|imap|mail|admin|root|ssh|app|login|http|ldap|vault|sudo|proxy)pass"
    r"|(?:api|private|access|secret|auth|signing|encryption)key"
    r"|(?:priv|sign|encrypt|decrypt|decryption|session|master|shared"
    r"|hmac|ssh|rsa|aes|pgp|gpg|license|licence|account|storage|deploy|recovery|cipher|subscription|consumer|client"
    r"|webhook|host|app|service|root|wallet|crypto|ssl|tls|openai|anthropic|stripe|sendgrid|twilio|google|azure|aws"
    r"|acct|wpa|wifi|certificate|activation|product|unlock)keys?(?!board|word)"
    r"|keymaterial|keyfile|keypass|storepass|sudopw|passw|serviceaccountjson|githubpat|codeverifier|clientassertion"
    r"|(?:twofactor|2fa|sms|device|unlock|door|safe|alarm)code|twofa|2fa|securityanswer|magiclink|parola|csrf|ccnum|enckey|(?:account|routing)number"
)
# Stems that are parts of common words ("spinner", "author", "bypass"): these must be a whole word of the name.
_SECRET_WORD = re.compile(
    r"creds?|hotp|iban|mfa|otps?|pass|pat|pfx|pins?|psk|psw|pw|rsa|secrets?|sig|tokens?|totp"
    r"|.*(?:auth|dsn|pem|ssn)|(?:ssn|auth[hktcdipsuv]).*"
)
_LONGEST_SEARCHED = 256


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case."""
    return tuple(word.lower() for word in _WORD.findall(name))


def is_secret_name(name: object, more: Collection[str] = ()) -> bool:
    """Return whether a parameter of this name holds a secret; ``more`` are other names that do."""
    if not isinstance(name, str):
        return False
    if name in more or len(name) > _LONGEST_SEARCHED or _is_secret(name):
        return True
    return bool(more) and any(name_words(other) == name_words(name) for other in more)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return _names_secret(name)


def _names_secret(text: str) -> bool:
    words = name_words(text if text.isascii() else unicodedata.normalize("NFKC", text))
    return (
        _SECRET.search("".join(words)) is not None
        or any(map(_SECRET_WORD.fullmatch, words))
        or ("key" in words and any(_SECRET.search(f"{word}key") for word in words))
    )


def keys_naming_secret(owner: object, more: Collection[str] = ()) -> frozenset[str]:
    """Return up to two keys of an object whose text is the name of a secret, so that what is beside it may be the secret."""
    if not isinstance(owner, Mapping):
        return frozenset()
    texts = ((key, text) for key, text in owner.items() if isinstance(text, str) and len(text) <= MAX_NAME)
    named = (key for key, text in texts if _KEY.fullmatch(text) and is_secret_name(text, more))
    return frozenset(islice(named, 2))


def has_credential(value: object) -> bool:
    """Return whether a text may be a secret: it names one (``password=..``), or has the form of one.

    That is a URI with a user or password, or a long random key.
    """
    if not isinstance(value, str):
        return False
    # The name alone is no secret. No text of a caller is kept in a cache.
    is_name_only = _KEY.fullmatch(value) and not any(map(str.isdigit, value))
    if not is_name_only and len(value) <= _LONGEST_SEARCHED and _names_secret(value):
        return True
    if len(value) < _SHORTEST_KEY and "@" not in value:
        return False
    *parts, _ = value.split("@")
    has_user = any(_USERINFO.search(part[-_LONGEST_USERINFO:]) for part in parts)
    return has_user or any(map(_is_random, _KEY_RUN.findall(value)))


def _is_random(text: str) -> bool:
    """Return whether a text mixes letters and digits as a generated key does, and not as words or a UUID do."""
    upper, lower, digit = (any(map(kind, text)) for kind in (str.isupper, str.islower, str.isdigit))
    return upper and digit and (lower or text.isalnum())


def shown_name(name: object) -> str:
    """Return a tool name or id for logs and answers; masked if it does not have the form of one."""
    return name if isinstance(name, str) and _TOOL_NAME.fullmatch(name) else HIDDEN


def shown_label(text: str) -> str:
    """Return a program's name or version for logs; masked if it does not have the form of a label."""
    return text if is_label(text) and not is_secret_name(text) else HIDDEN


def shown_model(text: str) -> str:
    """Return a model's name for logs, with its tag: ``gpt-oss:20b``; masked if it does not have the form of one."""
    return text if _MODEL.fullmatch(text) and not is_secret_name(text) else HIDDEN


def shown_key(key: str) -> str:
    """Return a key of an object for logs; masked if it does not have the form of a parameter name."""
    named = len(key) <= MAX_NAME and _KEY.fullmatch(key) is not None
    if not named or _is_generated(key) or (not key.isdecimal() and _DIGIT_RUN.search(key)):
        return HIDDEN
    # In one word with digits, the part after `password` may be the password.
    return HIDDEN if any(map(str.isdecimal, key)) and is_secret_name(key) else key


_QUOTED_KEY = re.compile(r"([\"'`])(.+)\1", re.DOTALL)


def bare_key(key: str) -> str:
    """Return a key without one pair of matching quotes around it.

    >>> bare_key("'command'"), bare_key("command")
    ('command', 'command')
    """
    quoted = _QUOTED_KEY.fullmatch(key)
    return quoted[2] if quoted else key


def is_name(key: str) -> bool:
    """Return whether an undeclared key has the form of a name, so that it may be repeated to its sender."""
    key = bare_key(key)
    is_text = len(key.split()) > 1 and is_secret_name(key[:_LONGEST_SEARCHED])
    return not (_PAIR.search(key) or is_text or _is_generated(key))


def _is_generated(key: str) -> bool:
    """Return whether a key is a secret itself: a long random text, with digits in three places or more, as no name has."""
    return _DIGIT_GROUPS.search(key) is not None and has_credential(key)


def shown(text: object, limit: int = MAX_NAME) -> str:
    """Return a client's text in a form that can be printed anywhere: one line, escaped and cut."""
    raw = text if isinstance(text, str) else text_of(text)
    return raw if len(raw) <= limit and raw.isprintable() else cut(_printable(raw[: limit + 1]), limit)


def is_label(text: object) -> bool:
    """Return whether a text has the form of a program's name or version."""
    return isinstance(text, str) and _LABEL.fullmatch(text) is not None


def cut(text: str, limit: int) -> str:
    """Return the text, shortened to at most ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def path_text(path: Path, *, quoted: bool = False) -> str:
    """Write where a value is, as a model writes it: ``rows[0].age``, ``titles["title "]`` but ``titles.title `` in quotes."""
    if len(path) > 8:
        beginning, end = (path_text(part, quoted=quoted) for part in (path[:4], path[-2:]))
        return cut(f"{beginning} … {end}", 4 * MAX_NAME)
    text = ""
    for part in path:
        if not isinstance(part, str):
            text += f"[{shown(part)}]"
        else:
            text += f".{shown(part)}" if quoted or _PLAIN_NAME.fullmatch(part) else f'["{shown(part)}"]'
    return cut(text.removeprefix("."), 4 * MAX_NAME)


def short_scalar(value: object) -> bool:
    """Return whether this is a scalar that is short enough to repeat and valid in JSON."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value.bit_length() <= _MAX_INTEGER_BITS
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) and len(value) <= MAX_SCALAR and not _SURROGATE.search(value)


def in_json(value: object) -> str:
    """Return a value as JSON in one printable line."""
    written = _ENCODER.encode(value)
    return written if written.isprintable() else _printable(written)


def fits_json(value: object, limit: int) -> bool:
    """Return whether a value can be written in JSON, within this many bytes."""
    try:
        return len(_FINITE_ENCODER.encode(value).encode()) <= limit
    except (TypeError, ValueError, RecursionError):
        return False


def first_fitting(entries: Sequence[Any], limit: int) -> list[Any]:
    """Return the first JSON values that fit into this number of bytes together."""
    sizes = [len(_ENCODER.encode(entry).encode(errors="backslashreplace")) + 2 for entry in entries]
    return list(entries[: sum([size <= limit for size in accumulate(sizes)])])


def one_line(text: object, limit: int) -> str:
    """Return an author's text as one printable line without URLs, shortened; empty for other types."""
    if not isinstance(text, str):
        return ""
    words = _URL.sub("", text[: 4 * limit]).split()
    return shown(" ".join(words), limit)


def first_sentences(text: object, limit: int, most: int | None = None) -> str:
    """Return the first sentences of an author's text that fit, ``most`` at most, or the beginning of the first.

    Of a text with a URL it is the first alone: without the URL, the others may say nothing.
    """
    line, most = one_line(text, 4 * limit), 1 if "://" in str(text)[: 4 * limit] else most
    ends = [match.start() for match in re.finditer(r"(?<=[^.\s]{2}[.!?])\s|\Z", line)][:most]
    return cut(line[: max([end for end in ends if end <= limit], default=ends[0])], limit)


def encodable(value: Any) -> Any:
    """Return the JSON value with lone surrogates escaped, so that it can be sent as UTF-8."""
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(entry) for entry in value]
    return value


def is_quotable(name: object) -> bool:
    """Return whether a name can be written unchanged in a message or patch."""
    return isinstance(name, str) and len(name) <= MAX_NAME and not _SURROGATE.search(name)


def escaped_pointer(pointer: str, secret: frozenset[str] = frozenset()) -> str:
    """Return a JSON Pointer for logs: at most 15 parts, masked unless they have the form of a name, and below a secret one."""
    first, *parts = pointer.split("/", _MAX_PARTS)
    shown = [first and shown_key(first)]
    hidden = is_secret_name(first, secret)
    for part in parts[: _MAX_PARTS - 1]:
        shown.append(HIDDEN if hidden else part if part == _MORE else shown_key(part))
        hidden = hidden or is_secret_name(part, secret)
    return "/".join([*shown, _MORE] if len(parts) == _MAX_PARTS else shown)
