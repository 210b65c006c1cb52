#!/bin/sh
# Makes certificates for tests: `certificates.sh FOLDER`. In the folder are then, each with its key in NAME.key:
# ca.pem, the authority to trust; server.pem, for localhost, 127.0.0.1 and bucket.store.test; expired.pem, the same but
# of a past year; other-host.pem, for a host that does not exist. Needs openssl.
set -eu
cd "${1:?usage: certificates.sh FOLDER}"

: >index.txt
cat >openssl.cnf <<'CNF'
[req]
distinguished_name = name
prompt = no
[name]
CN = readlab test
[ca]
default_ca = authority
[authority]
database = index.txt
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
certificate = ca.pem
private_key = ca.key
[any]
CN = supplied
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[localhost]
subjectAltName = DNS:localhost, IP:127.0.0.1, DNS:bucket.store.test
[other-host]
subjectAltName = DNS:other-host.example
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
CNF
# Each kind of leaf has its names in its own section.
for names in localhost other-host; do
    {
        echo "[leaf-$names]"
        sed -n '/^\[leaf\]/,$p' openssl.cnf | sed 1d
        sed -n "/^\[$names\]/{n;p;}" openssl.cnf
    } >"$names.cnf"
done
cat localhost.cnf other-host.cnf >>openssl.cnf

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }

# NAME NAMES FROM UNTIL: one certificate that the authority signs.
certificate() {
    key "$1"
    openssl req -new -config openssl.cnf -subj "/CN=readlab test $1" -key "$1.key" -out "$1.csr"
    openssl ca -batch -notext -config openssl.cnf -extensions "leaf-$2" -startdate "$3" -enddate "$4" \
        -in "$1.csr" -out "$1.pem"
}

{
    key ca
    openssl req -new -x509 -config openssl.cnf -extensions root -days 30 -subj "/CN=readlab test authority" \
        -key ca.key -out ca.pem
    yesterday=$(date -u -d yesterday +%Y%m%d%H%M%SZ)
    next_month=$(date -u -d '30 days' +%Y%m%d%H%M%SZ)
    certificate server localhost "$yesterday" "$next_month"
    certificate expired localhost 20200101000000Z 20210101000000Z
    certificate other-host other-host "$yesterday" "$next_month"
} 2>openssl.log || { tail -n 3 openssl.log >&2; exit 1; }
