// libcrypto. The low-level SHA-1 calls are deprecated in OpenSSL 3 but avoid its costly algorithm fetch, which
// made the one-shot call three times as dear for the short inputs of a name-based UUID.
#ifndef CARILLON_COPENSSL_SHIM_H
#define CARILLON_COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
