"""Keys of messages wrapped for those who may read, and signatures: by RSA or elliptic curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from engine.mq.protection.keys import PrivateKey

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
