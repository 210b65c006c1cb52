/*
 * OpenSSL 3 under the names of OpenSSL 1.1, for the SDK of .NET Core 3.1, whose compiler ends
 * itself if there is no library libssl.so.1.1 with all the functions that it may call. Three of
 * them have other names now; the others are found in the libraries of OpenSSL 3, which this one
 * is linked to. The contender itself calls none of them.
 */
struct evp_md_st;
struct ssl_st;
struct x509_st;

/* What OpenSSL 3 has. */
void ERR_new(void);
void ERR_set_debug(const char *file, int line, const char *function);
void ERR_set_error(int library, int reason, const char *format, ...);
int EVP_MD_get_size(const struct evp_md_st *digest);
struct x509_st *SSL_get1_peer_certificate(const struct ssl_st *connection);

/* What OpenSSL 1.1 had. */
void ERR_put_error(int library, int function, int reason, const char *file, int line);
int EVP_MD_size(const struct evp_md_st *digest);
struct x509_st *SSL_get_peer_certificate(const struct ssl_st *connection);

void ERR_put_error(int library, int function, int reason, const char *file, int line) {
    (void)function;
    ERR_new();
    ERR_set_debug(file, line, "");
    ERR_set_error(library, reason, 0);
}

int EVP_MD_size(const struct evp_md_st *digest) { return EVP_MD_get_size(digest); }

struct x509_st *SSL_get_peer_certificate(const struct ssl_st *connection) {
    return SSL_get1_peer_certificate(connection);
}
