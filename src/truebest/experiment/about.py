"""What is stored of an arm's command: enough to recognise it, and nothing that looks like a credential."""

from __future__ import annotations

import hashlib
import re

from .._text import shortened

LONGEST = 60  # characters of a command
STDERR = "; its stderr ends with: "  # how version 0.2 began the part of a reason that is no longer stored

_SECRET = r"[\w.-]*(?:key|token|secret|pass(?:\b|in\b|w\w*|_\w*)|pwd?\b|auth\w*|credential\w*|cookie|bearer)"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S"  # a part of a word, as a shell reads it
_NAMED = re.compile(rf"(?i)({_SECRET}[\"']?(?:\s*[=:]\s*|\s+))(?:bearer\s+|basic\s+)?(?:{_QUOTED})+")
_IN_URL = re.compile(r"(://)\S*@")
_LOGIN = re.compile(r"(?<!\S)(-u|-a|--user|--auth)(\s+|=)[\"']?[^\s:\"']+:\S+")  # of curl, NAME:PASSWORD
_ATTACHED = re.compile(r"(?<!\S)(sshpass\s+-p\s*|(?:mysql|mariadb)\w*\b[^|;&]*?\s-p)\S+")
_KNOWN = re.compile(r"\b(?:[sp]k-|[sr]k_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|hf_|AKIA|ey[JI])[\w.-]{4,}")
_RANDOM = re.compile(r"(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+=-]{20,}")


def abbreviated(command: str) -> str:
    """A shortened form without what looks like a credential, and a hash by which it is recognised."""
    text = _IN_URL.sub(r"\1***@", command)
    text = _NAMED.sub(r"\1***", _LOGIN.sub(r"\1\2***", _ATTACHED.sub(r"\1***", text)))
    text = _RANDOM.sub("***", _KNOWN.sub("***", text))
    digest = hashlib.blake2b(command.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{shortened(' '.join(text.split()), LONGEST)} [{digest}]"


def same_about(given: tuple[str, ...] | None, stored: tuple[str, ...] | None) -> bool:
    """Whether arms are what they were; versions 0.1 and 0.2 stored whole commands."""
    if given is None or stored is None or len(given) != len(stored):
        return given == stored
    return all(now in (was, abbreviated(was)) for now, was in zip(given, stored, strict=True))


def without_stderr(reason: str) -> str:
    """A reason without the end of a command's stderr, which version 0.2 stored with it."""
    said, found, _ = reason.partition(STDERR)
    return f"{said}; its stderr is not shown" if found else reason
