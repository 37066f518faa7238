"""The envelope of a protected message: a fixed head, a header as JSON, and the body, signed, encrypted or both.

Layout, version 1, all numbers big-endian:

    magic "PSPM", version (1 byte), kind (1 byte: 1 integrity, 2 privacy, 3 confidentiality), two bytes of zeros,
    Encoding and CodedCharSetId of the message (4 bytes each), its Format (8 bytes), the length of its body (8 bytes),
    a nonce (12 bytes), the length of the header (4 bytes), the header, and the contents.

The header is JSON: `digest` and `cipher`, and for each who may read, `keys`: the SHA-256 fingerprint of the certificate
and the wrapped key, as Base64. The contents are the signed part, encrypted by AES in GCM where the kind says so, with
all that is in front of it as associated data. The signed part of what is signed is the length of the signer's
certificate and the certificate (DER), the length of the signature and the signature, and the body; the signature is
over all that is in front of the contents and the body. Of what is not signed it is the body alone. Keys are wrapped
for those who may read by RSA or by elliptic curves.
"""

from __future__ import annotations

import base64
import json
import os
import struct
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from engine.mq.protection.keys import PrivateKey, has_name
from engine.mq.protection.policies import CIPHERS, DIGESTS, NONE, UNLIMITED, UnprotectedError

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq.protection.keys import KeyStore
    from engine.mq.protection.policies import Policy


_HASHES: Final[Mapping[str, hashes.HashAlgorithm]] = {
    "SHA256": hashes.SHA256(),
    "SHA384": hashes.SHA384(),
    "SHA512": hashes.SHA512(),
}
_OAEP: Final = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_INFO: Final = b"penstock message key"
_LENGTH: Final = 2


def sign(key: PrivateKey, data: bytes, digest: str) -> bytes:
    """Returns the signature of data: PSS for RSA, ECDSA for elliptic curves."""
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, _pss(digest), _HASHES[digest])
    return key.sign(data, ec.ECDSA(_HASHES[digest]))


def verify(certificate: x509.Certificate, signature: bytes, data: bytes, digest: str) -> None:
    """Raises InvalidSignature, ValueError or TypeError where a signature of data is not that of a certificate's key."""
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        key.verify(signature, data, _pss(digest), _HASHES[digest])
    elif isinstance(key, ec.EllipticCurvePublicKey):
        key.verify(signature, data, ec.ECDSA(_HASHES[digest]))
    else:
        raise TypeError("a certificate signs by RSA or an elliptic curve")


def _pss(digest: str) -> padding.PSS:
    return padding.PSS(padding.MGF1(_HASHES[digest]), _HASHES[digest].digest_size)


def wrap(certificate: x509.Certificate, key: bytes) -> bytes:
    """Returns a message's key as only the owner of a certificate can unwrap it."""
    public = certificate.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        return public.encrypt(key, _OAEP)
    if not isinstance(public, ec.EllipticCurvePublicKey):
        raise TypeError("a certificate of one who reads is of RSA or an elliptic curve")
    once = ec.generate_private_key(public.curve)
    own = once.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    wrapped = aes_key_wrap(_agreed(once.exchange(ec.ECDH(), public), own), key)
    return len(own).to_bytes(_LENGTH) + own + wrapped


def unwrap(key: PrivateKey, wrapped: bytes) -> bytes:
    """Returns a message's key; ValueError, TypeError or InvalidUnwrap where it is for someone else, or changed."""
    if isinstance(key, rsa.RSAPrivateKey):
        return key.decrypt(wrapped, _OAEP)
    end = _LENGTH + int.from_bytes(wrapped[:_LENGTH])
    own = wrapped[_LENGTH:end]
    public = load_der_public_key(own)
    if not isinstance(public, ec.EllipticCurvePublicKey):
        raise TypeError("a key that was wrapped for an elliptic curve has one")
    return aes_key_unwrap(_agreed(key.exchange(ec.ECDH(), public), own), wrapped[end:])


def _agreed(secret: bytes, own: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, None, _INFO + own).derive(secret)


FORMAT: Final = "PSPROT"  # of messages in an envelope
_MAGIC: Final = b"PSPM"
_VERSION: Final = 1
_HEAD: Final = struct.Struct(">4sBBHii8sQ12sI")
_SIZE: Final = struct.Struct(">I")
_INTEGRITY: Final = 1
_PRIVACY: Final = 2
_CONFIDENTIALITY: Final = 3
_KNOWN_KEYS: Final = 64  # that a reader keeps unwrapped
_SHARED: Final = 2**32  # messages at most under one key
_BITS: Final = {"AES128": 16, "AES256": 32}


class _Key(NamedTuple):
    """A key that messages are encrypted with, the header that goes with it, and the certificates that it is for."""

    cipher: AESGCM
    header: bytes


@dataclass(slots=True)
class _Used:
    """A key that a policy's messages are encrypted with, and for how many messages more."""

    policy: Policy
    key: _Key
    left: int


class Writer:
    """A writer of envelopes; it uses a key for several messages where the policy permits it."""

    __slots__ = ("_keys", "_store", "wrapped")

    def __init__(self, store: KeyStore) -> None:
        self._store = store
        self._keys: dict[str, _Used] = {}  # by the policies' names
        self.wrapped = 0  # how often a key was wrapped

    def seal(self, policy: Policy, descriptor: Descriptor, body: bytes) -> bytes:
        """Returns the envelope of a message."""
        kind = _kind(policy)
        key = None if kind == _INTEGRITY else self._key(policy)
        header = _header(policy, ()) if key is None else key.header
        nonce = os.urandom(12)
        # fmt: off
        front = _HEAD.pack(
            _MAGIC, _VERSION, kind, 0, descriptor.encoding, descriptor.coded_char_set_id,
            descriptor.format.encode("ascii", "replace"), len(body), nonce, len(header),
        ) + header
        # fmt: on
        contents = body if kind == _CONFIDENTIALITY else self._signed(policy, front, body)
        return front + (contents if key is None else key.cipher.encrypt(nonce, contents, front))

    def _signed(self, policy: Policy, front: bytes, body: bytes) -> bytes:
        identity = self._store.signer()
        certificate = identity.certificate.public_bytes(Encoding.DER)
        signature = sign(identity.key, front + body, policy.digest)
        return b"".join((_SIZE.pack(len(certificate)), certificate, _SIZE.pack(len(signature)), signature, body))

    def _key(self, policy: Policy) -> _Key:
        """Returns the key for the next message, the one before where it may be reused once more."""
        known = self._keys.get(policy.name)
        if known is None or known.left <= 0 or (known.policy is not policy and known.policy != policy):
            left = _SHARED if policy.reuse == UNLIMITED else policy.reuse
            known = self._keys[policy.name] = _Used(policy, self._made(policy), left)
        known.left -= 1
        return known.key

    def _made(self, policy: Policy) -> _Key:
        plain = os.urandom(_BITS[policy.cipher])
        certificates = [self._store.recipient(name) for name in policy.recipients]
        self.wrapped += len(certificates)
        return _Key(AESGCM(plain), _header(policy, [(one, wrap(one, plain)) for one in certificates]))


def _kind(policy: Policy) -> int:
    if policy.digest == NONE:
        return _CONFIDENTIALITY
    return _PRIVACY if policy.encrypts else _INTEGRITY


def _header(policy: Policy, keys: list[tuple[x509.Certificate, bytes]] | tuple[()]) -> bytes:
    wrapped = {one.fingerprint(SHA256()).hex(): base64.b64encode(key).decode() for one, key in keys}
    return json.dumps({"digest": policy.digest, "cipher": policy.cipher, "keys": wrapped}, sort_keys=True).encode()


class Opened(NamedTuple):
    """The content of an envelope: the message's own encoding, character set and format, and its body."""

    encoding: int
    coded_char_set_id: int
    format: str
    body: bytes


class _Known(NamedTuple):
    """A header that was read: the policy that it was checked by, what it says, and the key in it, if there is one."""

    policy: Policy
    said: dict[str, object]
    cipher: AESGCM | None


class Reader:
    """A reader of envelopes; it keeps what it read and the keys that it unwrapped last."""

    __slots__ = ("_keys", "_latest", "_store", "unwrapped")

    def __init__(self, store: KeyStore) -> None:
        self._store = store
        self._keys: OrderedDict[bytes, _Known] = OrderedDict()  # by the headers that they came in
        self._latest: tuple[bytes, _Known | None] = b"", None  # a header, and what it says
        self.unwrapped = 0  # how often a key was unwrapped

    def open(self, policy: Policy, envelope: bytes) -> Opened:
        """Returns what an envelope holds; one that is not as the policy asks, or was changed, is refused."""
        if len(envelope) < _HEAD.size:
            raise UnprotectedError("its envelope is cut off")
        magic, version, kind, _, encoding, ccsid, name, length, nonce, size = _HEAD.unpack_from(envelope)
        if magic != _MAGIC or version != _VERSION:
            raise UnprotectedError(f"its envelope is of another version than {_VERSION}, or none")
        if kind != _kind(policy):
            raise UnprotectedError("it is protected in another way than the policy asks")
        end = _HEAD.size + size
        front, contents = envelope[:end], envelope[end:]
        header = front[_HEAD.size :]
        latest, known = self._latest
        if known is None or known.policy is not policy or header != latest:  # seen sooner than found
            known = self._known(policy, header)
            self._latest = header, known
        if known.cipher is not None:
            try:
                contents = known.cipher.decrypt(nonce, contents, front)
            except InvalidTag:
                raise UnprotectedError("it was changed since it was encrypted") from None
        if kind == _CONFIDENTIALITY:
            body = contents
        else:
            body = self._verified(policy, str(known.said["digest"]), front, contents)
        if len(body) != length:
            raise UnprotectedError("its length is another than when it was put")
        return tuple.__new__(Opened, (encoding, ccsid, name.rstrip(b"\0").decode("ascii", "replace"), body))

    def _known(self, policy: Policy, header: bytes) -> _Known:
        """Returns what a header says, read anew where it is another than those of late, or was for another policy."""
        known = self._keys.get(header)
        if known is not None and (known.policy is policy or known.policy == policy):
            return known
        said = self._checked(policy, header)
        cipher = None if known is None else known.cipher
        if policy.encrypts and cipher is None:
            cipher = self._unwrapped(said)
        found = self._keys[header] = _Known(policy, said, cipher if policy.encrypts else None)
        if len(self._keys) > _KNOWN_KEYS:
            self._keys.popitem(last=False)
        return found

    @staticmethod
    def _checked(policy: Policy, header: bytes) -> dict[str, object]:
        """Returns what a header says, where its algorithms are as strong as the policy's."""
        try:
            said = json.loads(header)
            weak = _is_weaker(said["digest"], policy.digest, DIGESTS) or _is_weaker(
                said["cipher"], policy.cipher, CIPHERS
            )
            keys = said["keys"]
        except (ValueError, LookupError, TypeError):
            raise UnprotectedError("its header cannot be read") from None
        if weak or not isinstance(keys, dict):
            raise UnprotectedError("its algorithms are weaker than the policy's")
        return dict(said)

    def _unwrapped(self, said: dict[str, object]) -> AESGCM:
        """Returns the key of a message."""
        wrapped = said["keys"]
        assert isinstance(wrapped, dict)  # as it was checked
        for identity in self._store.identities:
            own = wrapped.get(identity.fingerprint.hex())
            if not isinstance(own, str):
                continue
            try:
                made = AESGCM(unwrap(identity.key, base64.b64decode(own, validate=True)))
            except (ValueError, TypeError, InvalidUnwrap):
                raise UnprotectedError("its key cannot be unwrapped") from None
            self.unwrapped += 1
            return made
        raise UnprotectedError("it is encrypted for others")

    def _verified(self, policy: Policy, digest: str, front: bytes, contents: bytes) -> bytes:
        """Returns the body of what is signed, by someone who may, with a signature that holds."""
        try:
            certificate_bytes, rest = _piece(contents)
            signature, body = _piece(rest)
            certificate = x509.load_der_x509_certificate(certificate_bytes)
            verify(certificate, signature, front + body, digest)
        except (ValueError, TypeError, struct.error):
            raise UnprotectedError("its signature cannot be read") from None
        except InvalidSignature:
            raise UnprotectedError("its signature is not that of what it holds") from None
        if not self._store.trusts(certificate):
            raise UnprotectedError("the certificate of its signer is not trusted, or not in force")
        if policy.signers and not any(has_name(certificate, name) for name in policy.signers):
            raise UnprotectedError("its signer is none of those that the policy names")
        return body


def _piece(data: bytes) -> tuple[bytes, bytes]:
    end = _SIZE.size + _SIZE.unpack_from(data)[0]
    if end > len(data):
        raise ValueError("a piece is cut off")
    return data[_SIZE.size : end], data[end:]


def _is_weaker(said: str, asked: str, known: tuple[str, ...]) -> bool:
    """Returns True for an algorithm that is weaker than another, or none where one is asked for."""
    if asked == NONE:
        return said != NONE
    return said not in known or known.index(said) < known.index(asked)
