from __future__ import annotations

import base64
import json
import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.domain.redaction import redact, redact_value

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"


def chars(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, min_size=least, max_size=most)


def prefixed(prefix: str, alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    # The last character is a word's, as in real keys; a trailing dash reads as punctuation.
    middle = chars(alphabet, least - 1, most - 1)
    return st.builds(lambda a, z: prefix + a + z, middle, st.sampled_from(ALNUM))


def jwt(head: str, body: str, sign: str) -> str:
    return f"eyJ{head}.eyJ{body}.{sign}"


def pem(body: str) -> str:
    lines = "\n".join(body[n : n + 64] for n in range(0, len(body), 64))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"


BY_FORM = st.one_of(
    prefixed("sk-", ALNUM, 24, 48),
    prefixed("sk-proj-", URL_SAFE, 24, 60),
    prefixed("sk_live_", ALNUM, 20, 30),
    prefixed("rk_test_", ALNUM, 20, 30),
    prefixed("ghp_", ALNUM, 36, 36),
    prefixed("github_pat_", ALNUM + "_", 40, 60),
    prefixed("AKIA", string.ascii_uppercase + string.digits, 16, 16).filter(
        lambda key: key.isupper()
    ),
    prefixed("AIza", URL_SAFE, 35, 35),
    prefixed("xoxb-", string.digits + "-", 20, 40),
    st.builds(jwt, chars(URL_SAFE, 12, 30), chars(URL_SAFE, 12, 40), chars(URL_SAFE, 20, 43)),
)
PEM_BODY = chars(ALNUM + "+/", 120, 300)
PASSWORD = chars(ALNUM + "!#$%^&*+-_@~?", 8, 24).filter(
    lambda word: any(c.isdigit() for c in word) and word[0].isalnum() and word[-1].isalnum()
)
SPACED = st.lists(chars(ALNUM, 3, 9), min_size=2, max_size=4).map(" ".join)
NAMES = st.sampled_from(
    [
        "password",
        "API_KEY",
        "api-key",
        "access_token",
        "clientSecret",
        "DB_PASSWORD",
        "token",
        "aws_secret_access_key",
        "Private Key",
        "refresh-token",
        "passwd",
        "密码",
        "令牌",
    ]
)
PROSE = st.sampled_from(["", "Remember: ", "请记住：", "a, b; ", "so\n", "see ("])
AFTER = st.sampled_from(["", ".", ", and go.", "\nthen", " 。", ")"])


def survives(secret: str, text: str) -> list[str]:
    slices = {secret[n : n + 8] for n in range(len(secret) - 7)}
    return [piece for piece in slices if piece in text]


def assert_gone(secret: str, text: str) -> None:
    redacted = redact(text)
    assert survives(secret, redacted) == [], redacted
    assert redact(redacted) == redacted
    assert "REDACTED" in redacted


@given(BY_FORM, PROSE, AFTER)
def test_a_key_of_a_known_form_goes_wherever_it_stands(key: str, head: str, tail: str) -> None:
    assert_gone(key, f"{head}{key}{tail}")
    assert_gone(key, json.dumps({"note": f"{head}{key}{tail}"}))


@given(PEM_BODY, st.booleans())
def test_a_pem_block_goes_whole_cut_off_or_escaped(body: str, ended: bool) -> None:
    block = pem(body) if ended else pem(body).split("\n-----END")[0]
    assert_gone(body, f"key:\n{block}")
    assert_gone(body, json.dumps({"file": block}))


@given(chars(ALNUM + "._~+/-", 16, 40))
def test_bearer_credentials_go_and_the_scheme_stays(token: str) -> None:
    redacted = redact(f"Authorization: Bearer {token}")
    assert survives(token, redacted) == []
    assert redacted.startswith("Authorization: Bearer [REDACTED")


@given(chars(string.ascii_lowercase, 3, 7), chars(ALNUM + "!#%", 8, 20))
def test_basic_credentials_and_url_passwords_go(user: str, password: str) -> None:
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    assert_gone(pair, f"curl -H 'Authorization: Basic {pair}' x")
    assert_gone(pair, f"it says Basic {pair} there")
    assert_gone(f"{password}!", f"postgres://{user}:{password}!@db.example.com:5432/app")


@given(NAMES, PASSWORD, st.sampled_from(["=", ": ", " = ", "：", "＝", "=>"]), PROSE)
def test_a_named_value_goes(name: str, secret: str, mark: str, head: str) -> None:
    assert_gone(secret, f"{head}{name}{mark}{secret} tail")
    assert redact(f"{name}{mark}{secret} tail").endswith(" tail")


@given(NAMES, SPACED, st.sampled_from(['"', "'", "`"]))
def test_a_quoted_value_goes_with_its_blanks(name: str, secret: str, quote: str) -> None:
    assert_gone(secret, f"{name} = {quote}{secret}{quote} tail")


@given(NAMES, st.text(min_size=8, max_size=30))
@example(name="password", secret='with "quotes" and \\')
def test_a_json_pair_loses_its_value_and_still_parses(name: str, secret: str) -> None:
    text = json.dumps({"user": "ann", name: secret, "next": [1]}, ensure_ascii=False)
    assert json.loads(redact(text)) == {"user": "ann", name: "[REDACTED]", "next": [1]}
    assert redact_value({name: secret})[name] in ("[REDACTED]", "")


@given(PASSWORD, AFTER)
def test_a_secret_told_in_a_sentence_goes(secret: str, tail: str) -> None:
    assert_gone(secret, f"The printer admin password is {secret}{tail}")
    assert_gone(secret, f"We changed the password for the wifi to {secret}{tail}")
    assert_gone(secret, f"打印机的密码是{secret}，别忘了")
    assert_gone(secret, f"the password is '{secret} {secret}'{tail}")


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "password",
            "token",
            "secret",
            " is ",
            ":",
            "=",
            '"',
            "'",
            "\\",
            "[REDACTED]",
            " ",
            "\n",
            "Bearer ",
            "Basic ",
            "sk-abc123def456ghi7",
            "密码",
            "是",
            "：",
            "hunter2",
            ",",
            ";",
            "{",
            "}",
            "[",
            "]",
            "://a:b@c",
            "<token>",
            "</token>",
            "-----BEGIN A-----",
            "from a to",
            "passphrase",
            "--password ",
            "PIN ",
            "4821",
            "eyJhbGciOi.abc.def",
            "[REDACTED_TOKEN]",
            "\u200b",
            "ｐａｓｓｗｏｒｄ",
            "pass word",
            "pin code",
            " -> ",
            "| ",
            " |",
            "mysql -p",
        ]
    ),
    max_size=14,
).map("".join)


@given(FRAGMENTS | st.text())
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "prose",
    [
        "the token count is 17",
        "max_tokens=4096, token_count: 17, tokens: 5",
        "The token is expired and the secret is to stir slowly.",
        "The password is stored in the vault; a password is required.",
        "the password is 12 characters long",
        "I forgot my password and was locked out. What is the password for the wifi?",
        "The key to success is patience; see key point 3.",
        "A basic understanding of JavaScript.",
        "https://host:8080/path?email=a@b.com",
        "密码是多少？密码是由8位数字组成的。",
        "Password hashing with bcrypt; the pin is loose.",
        "See PIN 12 and the pin is out.",
        "Bearer short",
        "-----BEGIN PRIVATE KEY-----",
        "Please pass word to Ann that the pin code is required.",
        "The user types the password -> the app checks the hash -> done.",
        "login -> password -> dashboard",
        "| user | password | role |\n|---|---|---|",
        "| field | type |\n|---|---|\n| password | string |",
        "| password | optional |",
        "mysql -p -u root shop; mysql -P 3306 -h db",
        "An app like this runs on mysql - perhaps.",
        "👩\u200d💻 ｆｕｌｌ width stays",
        "shopping code: blue",
    ],
)
def test_ordinary_prose_stays_word_for_word(prose: str) -> None:
    assert redact(prose) == prose


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('apikey = "quoted value"', "apikey=[REDACTED]"),
        ("令牌 token：全角", "令牌 token=[REDACTED]"),
        ("AKIAIOSFODNN7EXAMPLE", "[REDACTED_TOKEN]"),
        ("password is hunter2", "password is [REDACTED]"),
        ("my password is swordfish.", "my password is [REDACTED]."),
        ("密码：hunter2，然后", "密码=[REDACTED]，然后"),
        ("passphrase: correct horse battery staple", "passphrase=[REDACTED]"),
        ("the passphrase is correct horse battery", "the passphrase is [REDACTED]"),
        ("mysql --password hunter2 -u x", "mysql --password [REDACTED] -u x"),
        ("<apiToken>abc</apiToken>", "<apiToken>[REDACTED]</apiToken>"),
        ("curl -u ann:hunter2 x", "curl -u ann:[REDACTED] x"),
        ("my PIN is 4821", "my PIN is [REDACTED]"),
        ("hunter2xy is the wifi password", "[REDACTED] is the wifi password"),
        ("password: a,b", "password=[REDACTED],b"),
        ("my pin code is X9k2.", "my pin code is [REDACTED]."),
        ("pin code: hunter2", "pin code=[REDACTED]"),
        ("pass word: hunter2", "pass word=[REDACTED]"),
        ("my pass word is swordfish.", "my pass word is [REDACTED]."),
        ("mysql -u root -phunter2 shop", "mysql -u root -p[REDACTED] shop"),
        ("`mysqldump -p'a b' shop`", "`mysqldump -p[REDACTED] shop`"),
        ("ｐａｓｓｗｏｒｄ：hunter2", "password=[REDACTED]"),
        ("pass\u200bword: hunter2", "password=[REDACTED]"),
        ("密\u200b码\u200b：hunter2", "密码=[REDACTED]"),
        ("password -> hunter2", "password -> [REDACTED]"),
        ("password → swordfish.", "password → [REDACTED]."),
        ("password => hunter2", "password=[REDACTED]"),
        ("| wifi password | hunter2 |", "| wifi password | [REDACTED] |"),
        ("| **password** | `swordfish` |", "| **password** | [REDACTED] |"),
        (
            'args {\\"secret\\":\\"a b\\",\\"n\\":1}',
            'args {\\"secret\\":\\"[REDACTED]\\",\\"n\\":1}',
        ),
    ],
)
def test_other_ways_to_tell_a_secret(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize("prefix", ["Bearer ", "sk_", "ghp_", "npm_"])
def test_a_credential_goes_from_its_twelfth_sign_on(prefix: str) -> None:
    """Section 23."""
    assert survives("aB3dE5gH7jK9", redact(f"see {prefix}aB3dE5gH7jK9 there")) == []
    shorter = f"see {prefix}aB3dE5gH7jK there"
    assert redact(shorter) == shorter


def test_case_sec_06_the_values_go_and_the_fact_stays() -> None:
    text = (
        "Remember: the printer admin password is Zx9!fictive-Pw and the token is "
        "sk-test-000000000000000000000000."
    )
    assert redact(text) == (
        "Remember: the printer admin password is [REDACTED] and the token is [REDACTED_TOKEN]."
    )


def test_a_json_value_is_redacted_through_and_through() -> None:
    value: dict[str, Any] = {
        "password": "x",
        "pin": None,
        "credentials": {"user": "ann", "codes": [1, "b"]},
        "headers": [{"name": "X-Api-Key", "value": "zzz"}, {"name": "Accept", "value": "a"}],
        "token": 17,
        "access_token": 123456789,
        "tokens": 5,
        "note": "the password is hunter2",
        "sk-abcdefghijklmnopqrstu1": 1,
        "enabled_secret": True,
    }
    assert redact_value(value) == {
        "password": "[REDACTED]",
        "pin": None,
        "credentials": {"user": "[REDACTED]", "codes": ["[REDACTED]", "[REDACTED]"]},
        "headers": [
            {"name": "X-Api-Key", "value": "[REDACTED]"},
            {"name": "Accept", "value": "a"},
        ],
        "token": 17,
        "access_token": "[REDACTED]",
        "tokens": 5,
        "note": "the password is [REDACTED]",
        "[REDACTED_TOKEN]": 1,
        "enabled_secret": True,
    }


@given(PASSWORD, AFTER)
def test_a_secret_under_a_disguised_name_goes(secret: str, tail: str) -> None:
    assert_gone(secret, f"ｐａｓｓｗｏｒｄ：{secret} {tail}")
    assert_gone(secret, f"the pass\u200bword is {secret}{tail}")
    assert_gone(secret, f"my pass word is {secret}{tail}")
    assert_gone(secret, f"password -> {secret}{tail}")
    assert_gone(secret, f"pin code: {secret}{tail}")
    assert_gone(secret, f"| password | {secret} |{tail}")
    assert_gone(secret, f"mysql -u ann -p{secret} shop{tail}")
    pairs = {"note": f"run mysql -p{secret}", "pass\u200bword": secret}
    assert_gone(secret, json.dumps(pairs, ensure_ascii=False))
    assert redact_value({"ｐａｓｓｗｏｒｄ": secret}) == {"ｐａｓｓｗｏｒｄ": "[REDACTED]"}


def test_keys_that_only_a_secret_told_apart_stay_apart() -> None:
    one, other = "sk-abcdefghijklmnopqrstu1", "sk-abcdefghijklmnopqrstu2"
    assert list(redact_value({one: 1, other: 2}).values()) == [1, 2]
