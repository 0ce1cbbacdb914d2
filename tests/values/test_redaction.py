"""Test which names are secret, and which names and keys may be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import INTEGER, closed, each_row

from mcp_lenient import normalize
from mcp_lenient.values.display import HIDDEN, is_label, is_secret_name, shown_key, shown_name

_BEFORE = (
    "bearer cookie cookies cvc cvv jwt mnemonic otp passcode pin ssn token tokens password passwords passwd passphrase pwd secret secrets apikey apikeys authorization "
    "credential credentials privatekey accesskey secretkey authkey signingkey encryptionkey"
).split()


_SECRET = """
    api_key apiKey API_KEY apikey x-api-key X-API-Key api_v2_key openai_api_key apikeys ApiKeyId
    clientsecret client_secret clientSecret CLIENTSECRET appsecret secretvalue secretArn secretarn secrets aws_secret
    accesstoken access_token refreshtoken idtoken authToken bearertoken csrftoken tokenvalue TOKEN xoxbtoken tokens
    dbpassword userpassword passwordhash passwd rootpasswd pwd userpwd passphrase sshpassphrase passcode smtppass db_pass pw
    passkey user_passkey privkey ssh_privkey private_key privateKeyPem rsaprivatekey id_rsa
    creds dbcreds aws_creds credsfile credential credentials usercredentials
    signature x_signature webhooksignature requestSignature sig hmac
    card_number cardNumber cardnumber creditcard credit_card_no debitcard cvv cvc2 cvv2 cardcvc security_code
    connection_string connectionString connectionstring conn_str connstr db_url databaseUrl dsn SENTRY_DSN sentrydsn
    auth basicauth basic_auth proxyauth authheader Authorization authorisation authentication
    session_key sessionkey master_key sharedkey encryption_key signing_key hmacKey license_key subscriptionKey deploykey
    bearer cookie sessioncookie Set-Cookie jwt idjwt otp totp mfa_code one_time_code recovery_code backupcodes seed_phrase
    pin pins userpin user_pin pincode pin_code cardpin ssn user_ssn userssn social_security_number
    pem client_pem privatepem pfx keystore keytab kubeconfig webhook_url sas_url
    passwort kennwort contraseña senha motdepasse пароль 密码 パスワード 비밀번호
    """.split()
_ORDINARY = """
    spinner spinning shipping opinion pinned pinpoint mapping tokenizer tokenize tokenizers detokenizer secretary
    secretariat secretaries author authors authored_by authority coauthor key keys primary_key foreign_key public_key
    sort_key keyboard monkey keyword compass bypass bypass_cache passage passenger passed massnamed classname className
    sacred massacred accredited design designer signal sign assigned card cards cardinal cardboard discard id_card
    connection connections string session session_id user_id query url base_url path name code postal_code status_code
    zip_code message footprint hotpot option options caption topic cost_center sigma insight certificate
    certificates concert seed random_seed recover backup phrase spawned crawl
    """.split()


def test_names_with_a_secret_stem_are_secret():
    """A name with the stem of a secret is secret in any case, with or without separators."""
    assert [name for name in _SECRET if not is_secret_name(name)] == []


def test_ordinary_names_are_not_secret():
    """Names that only resemble secret names are not secret, so errors can show their values."""
    assert [name for name in _ORDINARY if is_secret_name(name)] == []


def test_full_width_secret_names_are_secret():
    """A name in full-width letters counts as the same name."""
    assert is_secret_name("".join(chr(ord(letter) + 0xFEE0) for letter in "password"))


@each_row("name", _BEFORE)
def test_once_secret_names_stay_secret(name):
    """Every name that was secret in an earlier version still is."""
    assert is_secret_name(name)
    assert is_secret_name(name.title())
    assert is_secret_name(f"my_{name}_2")
    assert all(
        is_secret_name(f"{name}_{word}") for word in ("word", "board", "izer", "ary", "aries", "ginger")
    )


@given(
    st.text(max_size=20),
    st.sampled_from(["password", "accesstoken", "clientsecret", "credentials", "signature"]),
)
def test_prefix_of_a_stem_does_not_matter(around, stem):
    """A name that ends in a long stem is secret."""
    assert is_secret_name(around + stem)


def test_long_names_are_secret():
    """An overlong name is secret without a search."""
    assert is_secret_name("a" * 2**20)


def test_policy_names_are_secret():
    """Names that the operator lists are secret in any case style."""
    assert is_secret_name("vaultCode", {"vault_code"})
    assert not is_secret_name("vault", {"vault_code"})
    assert not is_secret_name(5, {"vault_code"})


@each_row(
    "name", ["search", "get-note", "v1.search", "mcp__server__tool", "a/b.c-d_e", "größe", "x" * 128, "2fa"]
)
def test_valid_tool_names_are_shown(name):
    """Up to 128 letters, digits and ``_-./`` are shown as a name."""
    assert shown_name(name) == name


@each_row("name")
def test_other_tool_names_are_masked(name):
    """Other text is masked entirely."""
    assert shown_name(name) == HIDDEN


@each_row("key")
def test_keys_like_parameter_names_are_shown(key):
    """A key with the form of a parameter name or an index is shown."""
    assert shown_key(key) == key


@each_row("key")
def test_other_keys_are_masked(key):
    """Keys with separators, spaces, long numbers and other text are masked entirely."""
    assert shown_key(key) == HIDDEN


@each_row(
    "text",
    [
        "claude-ai",
        "Visual Studio Code - Insiders",
        "claude-ai (via mcp-remote 0.1.37)",
        "@n8n/x.y",
        "1.2.3+build.5",
    ],
)
def test_usual_labels_are_shown(text):
    """The usual forms of a program's name and version are shown."""
    assert is_label(text)


@each_row("text", ["a: b", "a=b", '{"a": 1}', "a\nb", "a\u200b", "x" * 129, "", "key'x'", 5, None])
def test_labels_that_may_contain_values_are_refused(text):
    """Text that could contain a value is not a label."""
    assert not is_label(text)


@pytest.mark.parametrize("secret", [True, False])
def test_a_text_that_names_a_secret_is_not_repeated(secret):
    """Whatever its parameter is called, a text that names a secret may hold it; the name alone is none."""
    texts = (
        [
            "password=hunter2",
            "Bearer hunter2",
            "https://h/?api_key=hunter2",
            "export TOKEN=hunter2",
            "my pin is 4711",
        ]
        if secret
        else ["password", "Authorization", "hunter2", "compass 4", "a spinner at 9", "the author is 5"]
    )
    for text in texts:
        (violation,) = normalize(closed(n=INTEGER), {"n": text}).violations
        assert violation.has_received_value is not secret, text
        assert (text in repr(violation)) is not secret, text
