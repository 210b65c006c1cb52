#!/bin/sh
# nginx over a folder, for tests: `nginx.sh FOLDER`. Prints where it is, then `ready`, and ends when its standard input
# closes or it is killed. Status 3, with SKIPPED on standard error, if nginx or openssl is missing.
#
#   http=, https=     the folder; https with HTTP/1.1 and HTTP/2, ranges, strong ETags; any query is accepted
#   cacert=           the authority to trust
#   expired=          the folder, with a certificate of a past year
#   other_host=       the folder, with a certificate for another host
#   log=              a line for each request: CONNECTION VERSION STATUS METHOD URI "RANGE" "IF-MATCH" "ACCEPT-ENCODING"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${1:?usage: nginx.sh FOLDER}" && pwd)
. "$here/lifetime.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v nginx >/dev/null 2>&1 || skip "tests with nginx: no nginx on the PATH"
command -v openssl >/dev/null 2>&1 || skip "tests with nginx: no openssl on the PATH"
"$here/certificates.sh" "$work" || fail "no certificates could be made"

server() {
    echo "server { listen 127.0.0.1:$1; location / { root '$folder'; } }"
}
tls_server() {
    echo "server {
        listen 127.0.0.1:$1 ssl http2;
        ssl_certificate $work/$2.pem;
        ssl_certificate_key $work/$2.key;
        location / { root '$folder'; }
    }"
}

# One process: it needs no other user, so that it may read what this user may.
configure() {
    cat <<CONF
daemon off;
master_process off;
pid $work/pid;
error_log $work/error.log;
events { worker_connections 1024; }
http {
    log_format one '\$connection \$server_protocol \$status \$request_method \$request_uri '
        '"\$http_range" "\$http_if_match" "\$http_accept_encoding"';
    access_log $work/access.log one;
    default_type application/octet-stream;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    sendfile on;
    keepalive_requests 100000;
    ssl_protocols TLSv1.2 TLSv1.3;
    $(server "$http")
    $(tls_server "$https" server)
    $(tls_server "$expired" expired)
    $(tls_server "$other_host" other-host)
}
CONF
}

start() {
    http=$(random_port)
    https=$(random_port)
    expired=$(random_port)
    other_host=$(random_port)
    configure >"$work/nginx.conf"
    : >"$work/access.log"
    mortal nginx -p "$work" -e "$work/error.log" -c "$work/nginx.conf" >/dev/null 2>&1 &
    servers=$!
    # nginx writes its number after it listens.
    wait_for "$work/pid" "$servers"
}
for attempt in 1 2 3 0; do
    ! start || break
    [ $attempt != 0 ] || fail "nginx: $(tail -n 1 "$work/error.log")"
done
cat <<SAID
http=http://127.0.0.1:$http
https=https://localhost:$https
cacert=$work/ca.pem
expired=https://localhost:$expired
other_host=https://localhost:$other_host
log=$work/access.log
SAID
until_closed
