"""What is stored of an arm's command: enough to recognise it, and nothing that looks like a credential."""

from __future__ import annotations

import hashlib
import re

from .._text import shortened

LONGEST = 60  # characters of a command
STDERR = "; its stderr ends with: "  # how version 0.2 began the part of a reason that is no longer stored

_PASS = r"pass(?:\b|in\b|w\w*|phrase|_\w*)|pwd?\b"
_SECRET = rf"(?<![\w.-])[\w.-]*(?:key|token|secrets?|{_PASS}|auth\w*|credential\w*|cookie|bearer)"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|\S"  # a part of a word, as a shell reads it
_SCHEME = r"(?:(?:bearer|basic|token|digest)\s+)?"  # of a header
_NAMED = re.compile(rf"(?i)({_SECRET}[\"']?(?:\s*[=:]\s*|\s+)){_SCHEME}(?:{_QUOTED})+")
_IN_URL = re.compile(r"(://)\S*@")
_LOGIN = re.compile(r"(?<!\S)(-u|-a|--user|--auth)(\s+|=)[\"']?[^\s:\"']+:\S+")  # of curl, NAME:PASSWORD
_ATTACHED = re.compile(r"(?<!\S)(sshpass\s+-p\s*|(?:mysql|mariadb)\w*\b[^|;&]*?\s-p)\S+")
_BEGINNINGS = r"[sp]k-|[sr]k_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|hf_|SG\.|AKIA|ey[JI]"
_KNOWN = re.compile(rf"\b(?:{_BEGINNINGS})[\w.-]{{4,}}")
_RANDOM = re.compile(r"(?<![\w+=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+=-]{20,}")
_HASH = re.compile(r" \[[0-9a-f]{16}\]$")


def abbreviated(command: str) -> str:
    """A shortened form without what looks like a credential, and a hash by which it is recognised."""
    text = _IN_URL.sub(r"\1***@", command.replace("\\\n", " "))
    text = _NAMED.sub(r"\1***", _LOGIN.sub(r"\1\2***", _ATTACHED.sub(r"\1***", text)))
    text = _RANDOM.sub("***", _KNOWN.sub("***", text))
    digest = hashlib.blake2b(command.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{shortened(' '.join(text.split()), LONGEST)} [{digest}]"


def same_about(given: tuple[str, ...] | None, stored: tuple[str, ...] | None) -> bool:
    """Whether arms are what they were: by the hash, as other versions may shorten a command otherwise.

    Versions 0.1 and 0.2 stored whole commands.
    """
    if given is None or stored is None or len(given) != len(stored):
        return given == stored
    return all(_same(now, was) for now, was in zip(given, stored, strict=True))


def _same(now: str, was: str) -> bool:
    found = _HASH.search(now)
    return now in (was, abbreviated(was)) or (found is not None and was.endswith(found[0]))


def without_stderr(reason: str) -> str:
    """A reason without the end of a command's stderr, which version 0.2 stored with it."""
    said, found, _ = reason.partition(STDERR)
    return f"{said}; its stderr is not shown" if found else reason
