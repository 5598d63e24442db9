"""Keys and tokens of machines: by the shape that their issuers give them, or called such.

The shapes are those of detect-secrets' plugins, whose ``analyze_string`` is a pure function of a
text; its scanning of files, its settings and its checks over the network are not used. Shapes that
it does not know (yet) are here.
"""

from __future__ import annotations

import re
from typing import Final

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from processors.gate.said import Said
from processors.gate.texts import bare, kept_texts
from schemas.events import RejectionReason
from schemas.proposals import Operation

_DETECTORS: Final = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    BasicAuthDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    JwtTokenDetector(),
    MailchimpDetector(),
    NpmDetector(),
    OpenAIDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TelegramBotTokenDetector(),
    TwilioKeyDetector(),
)
_KEY_FILE: Final = PrivateKeyDetector()

_TOKEN: Final = re.compile(r"[!-~]{12,}")
"""A stretch without blanks that is long enough for a credential."""

_TOKEN_CHARACTERS_MAX: Final = 2_000
"""Of a longer stretch the beginning is read: some plugins take a time that grows with the square of
a stretch's length. JSON Web Tokens, the longest of all, are usually below it."""

_PREFIXED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{24,}"  # Anthropic, OpenAI, OpenRouter
    r"|github_pat_[A-Za-z0-9_]{22,}"
    r"|AIza[A-Za-z0-9_-]{33,}"  # Google
    r"|ya29\.[A-Za-z0-9_-]{20,}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}"  # Hugging Face
    r"|xapp-\d-[A-Za-z0-9-]{20,}"  # Slack, application level
    r"|[rsp]k_(?:test|live)_[A-Za-z0-9]{16,}"  # Stripe
    r"|whsec_[A-Za-z0-9]{20,}"
    r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"  # Shopify
    r"|dop_v1_[a-f0-9]{64}"  # DigitalOcean
    r"|npm_[A-Za-z0-9]{36}"
    r"|lin_api_[A-Za-z0-9]{32,}"
    r"|hvs\.[A-Za-z0-9_-]{24,}"  # HashiCorp Vault
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,}"
    r")"
)
_KEY_BLOCK: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")

_CALLED: Final = re.compile(
    r"(?:api[ _-]?(?:key|token|secret|schlussel|schluessel)|access[ _-]?(?:key|token)|"
    r"secret(?:[ _-]?access)?[ _-]?(?:key|token)|client[ _-]?secret|auth[ _-]?token|"
    r"bearer(?: token)?|private key|signing key|encryption key|license key|"
    r"(?:zugangs|api)-?(?:schl(?:ü|ue)ssel|token)|clave (?:de )?(?:la )?api|"
    r"cl(?:é|e) (?:d')?api|jeton(?: d'accès)?|token|secret|"
    "密钥|密鑰|令牌|秘密鍵|トークン|"
    "apiキー|アクセスキー)"
    r"(?:[^\n.!?]{0,40}?|[\s:=]{1,4})(?<![A-Za-z0-9/+_~.-])(?P<value>[A-Za-z0-9/+_~.-]{16,400})",
    re.IGNORECASE,
)
_RECOVERY: Final = re.compile(
    r"(?:\b(?:seed|recovery|backup|mnemonic|secret recovery|wiederherstellungs-?)\s?"
    r"(?:phrase|words|wörter)\b"
    r"|\b(?:seed|(?:12|24|twelve|twenty-four) (?:seed |secret )?words)\b"
    r"(?=\s?[:=]| (?:is|are)\b)"
    r"|\b(?:frase (?:semilla|de recupera(?:ción|ção)|di recupero|seed)|phrase de récupération|"
    r"herstelzin|kurtarma ifadesi|сид-?фраз\w|seed-?фраз\w|фраз\w восстановления)"
    "|助记词|リカバリーフレーズ|シードフレーズ|시드 ?(?:문구|구문)|복구 문구|"
    "عبارة الاسترداد)"
    r"[^\n]{0,20}?(?::|=|->|\u2192|\n| (?:is|are|ist|lautet|es|est|è|é)\b|это|[는은は是]|\s(?=1\W))"
    r"(?:\s{0,4}(?:\d{1,2}\s?[.):-]?\s{0,3})?[a-z]{3,8}(?:[ \t\r,;]|\n|$)){12}",
    re.IGNORECASE,
)
_RECOVERY_WORDS: Final = re.compile(
    "seed|words|recovery|backup|mnemonic|wiederherstellung|semilla|recupera|récupération|recupero|"
    "herstelzin|kurtarma|сид|фраз|助记词|リカバリー|シード|시드|복구|الاسترداد",
    re.IGNORECASE,
)

_SPACED_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9])A[\s-]{0,2}[KS][\s-]{0,2}I[\s-]{0,2}A(?=[A-Z\s-]{0,40}\d)"
    r"(?:[\s-]{0,2}[A-Z0-9]){16}(?![A-Za-z0-9])"
)
"""A key of AWS with blanks or hyphens anywhere in it."""
_SPLIT: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|sk-(?:ant|proj)|sk-|AIza|xox[abeoprs]-|"
    r"hf_|glpat-|npm_|[rsp]k_(?:live|test)_|SG\.|GOCSPX-|eyJ)"
    r"[A-Za-z0-9_.-]{0,200}(?:\s{1,3}[A-Za-z0-9_.-]{3,200}){1,4}"
)
"""A known beginning whose rest stands behind blanks or on other lines."""
_CALLED_IN_PARTS: Final = re.compile(
    r"(?:api[ _-]?(?:key|token|secret)|access[ _-]?(?:key|token)|secret[ _-]?(?:key|token)|"
    r"client[ _-]?secret|auth[ _-]?token|bearer token|clave api|clé api|api-?schlüssel|密钥|"
    r"トークン)"
    r"\s*(?:is|:|=|lautet|ist|es|est|是|は)\s*"
    r"(?P<value>[A-Za-z0-9/+_~.-]{4,64}(?:\s{1,3}[A-Za-z0-9/+_~.-]{4,64}){1,7})",
    re.IGNORECASE,
)
_PIECE_LETTERS_MIN: Final = 8

_VALUE_MIN: Final = 16
_VALUE_LETTERS_MIN: Final = 4

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ADDRESS: Final = re.compile(r"^(?:https?:)?//|^www\.", re.IGNORECASE)


def no_credential(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse keys and tokens of machines, private keys and recovery phrases of wallets."""
    found = any(said.once(holds_credential, text) for text in kept_texts(operation, said))
    return RejectionReason.SECRET if found else None


def holds_credential(text: str) -> bool:
    """Tell whether a text holds a credential."""
    text = bare(text)
    tokens = list(dict.fromkeys(_TOKEN.findall(text)))
    if tokens and any(map(_is_credential, tokens)):
        return True
    if ("PRIVATE KEY" in text or "PuTTY" in text) and _holds_key_file(text):
        return True
    if tokens and any(_is_random(found["value"]) for found in _CALLED.finditer(text)):
        return True
    return _holds_parted(text) or _holds_phrase(text)


def _holds_phrase(text: str) -> bool:
    return _RECOVERY_WORDS.search(text) is not None and _RECOVERY.search(text) is not None


def _holds_parted(text: str) -> bool:
    """Tell whether a text holds a key with blanks in it."""
    if _SPACED_KEY.search(text) is not None or any(map(_is_split, _SPLIT.finditer(text))):
        return True
    return any(_is_random_in_parts(found["value"]) for found in _CALLED_IN_PARTS.finditer(text))


def _holds_key_file(text: str) -> bool:
    return _KEY_BLOCK.search(text) is not None or any(_KEY_FILE.analyze_string(text))


def _is_credential(token: str) -> bool:
    token = token[:_TOKEN_CHARACTERS_MAX]
    if _PREFIXED.search(token) is not None:
        return True
    if "://" not in token and (token.isdecimal() or not any(map(str.isdecimal, token))):
        return False
    return any(any(detector.analyze_string(token)) for detector in _DETECTORS)


def _is_split(found: re.Match[str]) -> bool:
    """Tell whether pieces make a known shape together: words behind a beginning do not count."""
    first, *rest = found[0].split()
    joined = first
    for piece in rest:
        if not _is_piece(piece):
            return False
        joined += piece
        if _is_credential(joined):
            return True
    return False


def _is_random_in_parts(value: str) -> bool:
    joined = ""
    for piece in value.split():
        if not _is_piece(piece):
            return False
        joined += piece
        if joined != piece and _is_random(joined):
            return True
    return False


def _is_piece(piece: str) -> bool:
    """Tell whether a stretch looks like a part of a key: digits within letters, or mixed case."""
    bare_piece = piece.strip("./-_")
    if any(map(str.isdecimal, bare_piece)) and any(map(str.isalpha, bare_piece)):
        return True
    inner = bare_piece[1:]
    return len(bare_piece) >= _PIECE_LETTERS_MIN and inner.lower() != inner != inner.upper()


def _is_random(value: str) -> bool:
    """Tell whether a value that is called a key looks like one: no word, no UUID, no address."""
    value = value.strip("./-_")
    if len(value) < _VALUE_MIN or _UUID.fullmatch(value) or _ADDRESS.search(value):
        return False
    digits = sum(map(str.isdecimal, value))
    letters = sum(map(str.isalpha, value))
    mixed = value.lower() != value != value.upper()
    return (
        digits >= (1 if mixed else 2)
        and letters >= _VALUE_LETTERS_MIN
        and not _reads_as_words(value)
    )


def _reads_as_words(value: str) -> bool:
    """Tell whether digits stand only at the end of a part, as in a name with a version."""
    parts = re.split(r"[/_.~+-]", value)
    return len(parts) > 1 and all(re.fullmatch(r"[A-Za-z]*\d{0,4}", part) for part in parts)
