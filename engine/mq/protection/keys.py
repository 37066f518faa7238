"""Key stores: folders with the certificates that a user trusts and the private keys that are the user's own."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from engine.errors import ConfigurationException
from engine.files.input_files import read_file

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
_CERTIFICATES: Final = (".pem", ".crt", ".cer")
_LEAST_BITS: Final = 2048
_LARGEST: Final = 1 << 20  # bytes of a file


class Identity:
    """A private key of the user, and its certificate."""

    __slots__ = ("certificate", "fingerprint", "key")

    def __init__(self, key: PrivateKey, certificate: x509.Certificate) -> None:
        self.key = key
        self.certificate = certificate
        self.fingerprint = certificate.fingerprint(SHA256())


class KeyStore:
    """The certificates and private keys of a folder: *.pem, *.crt and *.cer, and *.key, which nobody else may read."""

    __slots__ = ("_by_name", "_known", "folder", "identities")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise ConfigurationException(f"there is no key store {folder}: name the folder of your keys")
        certificates = [one for path in sorted(folder.iterdir()) for one in _certificates(path)]
        self._known = {one.fingerprint(SHA256()): one for one in certificates}
        self._by_name: dict[frozenset[tuple[str, str]], list[x509.Certificate]] = {}
        for one in certificates:
            self._by_name.setdefault(_parts(one.subject), []).append(one)
        by_key = {_public(one): one for one in certificates}
        keys = [_private(path) for path in sorted(folder.glob("*.key"))]
        found = [(key, by_key.get(_public(key))) for key in keys]
        self.identities = [Identity(key, certificate) for key, certificate in found if certificate is not None]

    def signer(self) -> Identity:
        """Returns the identity that signs: the first whose certificate is in force."""
        for identity in self.identities:
            if is_in_force(identity.certificate):
                return identity
        raise ConfigurationException(
            f"key store {self.folder} has no private key with a certificate in force: add NAME.key and NAME.crt"
        )

    def recipient(self, name: str) -> x509.Certificate:
        """Returns the certificate of someone who may read, by the name in it."""
        found = [one for one in self._by_name.get(named(name), ()) if is_in_force(one)]
        if not found:
            raise ConfigurationException(f"key store {self.folder} has no certificate in force of {name}: add it")
        return found[0]

    def trusts(self, certificate: x509.Certificate) -> bool:
        """Returns True for a certificate that is in the store, or that an authority whose own is there has issued."""
        if not is_in_force(certificate):
            return False
        if certificate.fingerprint(SHA256()) in self._known:
            return True
        return any(_has_issued(one, certificate) for one in self._by_name.get(_parts(certificate.issuer), ()))


def _has_issued(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints).value
        certificate.verify_directly_issued_by(authority)
    except (x509.ExtensionNotFound, InvalidSignature, ValueError, TypeError):
        return False
    return constraints.ca and is_in_force(authority)


def is_in_force(certificate: x509.Certificate) -> bool:
    """Returns True between the days that a certificate says."""
    return certificate.not_valid_before_utc <= datetime.now(UTC) <= certificate.not_valid_after_utc


def named(text: str) -> frozenset[tuple[str, str]]:
    """Returns the parts of a name such as CN=ann,O=Penstock, in whichever order they stand.

    >>> named("CN=ann, O=Penstock") == named("O=Penstock,CN=ann")
    True
    """
    try:
        return _parts(x509.Name.from_rfc4514_string(",".join(part.strip() for part in text.split(","))))
    except ValueError as error:
        raise ConfigurationException(f"{text:.80} is no name of a certificate: write CN=ann,O=Penstock") from error


def has_name(certificate: x509.Certificate, text: str) -> bool:
    """Returns True for a certificate of someone."""
    return _parts(certificate.subject) == named(text)


def _parts(name: x509.Name) -> frozenset[tuple[str, str]]:
    return frozenset((one.oid.dotted_string, str(one.value)) for one in name)


def _contents(path: Path) -> bytes:
    if not path.is_file():
        raise ConfigurationException(f"{path} is a pipe, a device or a folder: take it out of the key store")
    return read_file(path, _LARGEST, "no key or certificate has so many")


def _certificates(path: Path) -> list[x509.Certificate]:
    if path.suffix not in _CERTIFICATES:
        return []
    try:
        return x509.load_pem_x509_certificates(_contents(path))
    except ValueError as error:
        raise ConfigurationException(f"{path} holds no certificate in PEM: take it out of the key store") from error


def _private(path: Path) -> PrivateKey:
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationException(f"others may read the private key {path}: chmod 600 {path}")
    try:
        key = load_pem_private_key(_contents(path), None)
    except (ValueError, TypeError) as error:
        raise ConfigurationException(f"{path} holds no private key in PEM without a password: write it so") from error
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) or (
        isinstance(key, rsa.RSAPrivateKey) and key.key_size < _LEAST_BITS
    ):
        raise ConfigurationException(f"{path} is no key of RSA with {_LEAST_BITS} bits or more, nor of EC: make one")
    return key


def _public(holder: x509.Certificate | PrivateKey) -> bytes:
    return holder.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
