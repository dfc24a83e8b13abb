"""Detached signatures of a study hash or a head, by OpenSSH's ``ssh-keygen -Y``."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from wolfbus.errors import ConfigError
from wolfbus.printable import NOTE_SHOWN, printable
from wolfbus.study.manifest import FILE
from wolfbus.whole_file import write_whole

NAMESPACE: Final = "wolfbus"
"""What signatures are for, so that one made for something else is none."""
_PATIENCE_S: Final = 600.0
"""Seconds for somebody to type a passphrase or touch a token."""


def signature_of(path: Path) -> Path:
    """Return where the signature of a study's folder or of a record is."""
    signed = path / FILE if path.is_dir() else path
    return signed.with_name(f"{signed.name}.sig")


def sign(digest: str, key: Path, to: Path) -> None:
    """Sign a hash, as one line of text, and write the signature.

    Raises:
        ConfigError: ssh-keygen is missing, or cannot sign with that key.
        OSError: the signature cannot be written.
    """
    done = _keygen(["sign", "-f", str(key), "-n", NAMESPACE], digest)
    if done.returncode:
        raise ConfigError(f"{key}: ssh-keygen cannot sign with it: {_reason(done)}")
    write_whole(to, [done.stdout])


def check_signature(digest: str, allowed: Path, signature: Path) -> str | None:
    """Return who of the allowed signers signed a hash; None if none of them did.

    Raises:
        ConfigError: ssh-keygen is missing, or a file is.
    """
    for path in (allowed, signature):
        if not path.is_file():
            raise ConfigError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
    names = _keygen(["find-principals", "-s", str(signature), "-f", str(allowed)], "")
    for who in names.stdout.splitlines() if names.returncode == 0 else ():
        # a line names several who share a key
        for name in who.split(","):
            words = ["verify", "-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(signature)]
            if _keygen(words, digest).returncode == 0:
                return printable(name, NOTE_SHOWN)
    return None


def _keygen(words: list[str], digest: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - words of our own, and no shell
            ["ssh-keygen", "-Y", *words],  # noqa: S607 - the user's own, as their shell finds it
            input=f"{digest}\n",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigError("signatures need ssh-keygen, which is part of OpenSSH; it is not there") from None
    except subprocess.TimeoutExpired:
        raise ConfigError("ssh-keygen did not answer") from None


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    return printable(lines[-1] if lines else f"exit code {done.returncode}", NOTE_SHOWN)
