#!/bin/sh
# Makes a certificate for 127.0.0.1 and localhost that signs itself, for a hundred years, and its key.
# Neither protects anything.
set -eu
cd "$(dirname "$0")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 \
    -keyout key.pem -out certificate.pem -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
