#include "lib/net/tls/verify_error.h"

#include <ctime>
#include <memory>

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace apimesh::net {
namespace {

/// The subject alternative names that a host can be compared with.
struct Names {
  std::string dns, ips;  // separated by ", "
};

void Append(std::string& list, const std::string& name) {
  if (!list.empty()) list += ", ";
  list += name;
}

Names NamesOf(const X509* certificate) {
  Names names;
  auto* found = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found, i);
    const ASN1_STRING* value = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    if (name->type == GEN_DNS) {
      Append(names.dns,
             std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)), ASN1_STRING_length(value)));
    } else if (name->type == GEN_IPADD) {
      char text[INET6_ADDRSTRLEN] = "";
      inet_ntop(ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(value), text, sizeof(text));
      Append(names.ips, text);
    }
  }
  GENERAL_NAMES_free(found);
  return names;
}

std::string WrongName(const X509* certificate, const std::string& host, bool is_ip) {
  const Names names = NamesOf(certificate);
  if (is_ip && names.ips.empty())
    return "cannot validate certificate for " + host + " because it doesn't contain any IP SANs";
  const std::string& valid = is_ip ? names.ips : names.dns;
  if (valid.empty()) return "certificate is not valid for any names, but wanted to match " + host;
  return "certificate is valid for " + valid + ", not " + host;
}

std::string Shown(const std::tm& time) {
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &time);
  return text;
}

std::string WrongTime(const X509* certificate, bool expired, WallTime time) {
  std::tm now{}, limit{};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  gmtime_r(&seconds, &now);
  ASN1_TIME_to_tm(expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate), &limit);
  return "certificate has expired or is not yet valid: current time " + Shown(now) +
         (expired ? " is after " : " is before ") + Shown(limit);
}

/// The index under which a session keeps the certificate that was refused: OpenSSL forgets it.
int RefusedIndex() {
  static const int index = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* refused, CRYPTO_EX_DATA*, int, long, void*) { X509_free(static_cast<X509*>(refused)); });
  return index;
}

int KeepRefused(int chain_is_valid, X509_STORE_CTX* store) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  if (chain_is_valid == 1 || !certificate || SSL_get_ex_data(ssl, RefusedIndex())) return chain_is_valid;
  X509_up_ref(certificate);
  SSL_set_ex_data(ssl, RefusedIndex(), certificate);
  return 0;
}

}  // namespace

void VerifyServers(ssl_ctx_st* context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &KeepRefused);
  // Every certificate in the bundle is trusted, self-signed or not: a caBundle can be the server's own certificate.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
}

std::string DescribeVerifyError(const ssl_st* ssl, WallTime now) {
  const auto* certificate = static_cast<const X509*>(SSL_get_ex_data(ssl, RefusedIndex()));
  const long result = SSL_get_verify_result(ssl);
  if (!certificate || result == X509_V_OK) return {};
  const std::string start = "failed to verify certificate: x509: ";
  X509_VERIFY_PARAM* wanted = SSL_get0_param(const_cast<ssl_st*>(ssl));
  switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH: {
      const char* host = X509_VERIFY_PARAM_get0_host(wanted, 0);
      return start + WrongName(certificate, host ? host : "", false);
    }
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::unique_ptr<char, void (*)(char*)> host(X509_VERIFY_PARAM_get1_ip_asc(wanted),
                                                        [](char* text) { OPENSSL_free(text); });
      return start + WrongName(certificate, host ? host.get() : "", true);
    }
    case X509_V_ERR_CERT_HAS_EXPIRED: return start + WrongTime(certificate, true, now);
    case X509_V_ERR_CERT_NOT_YET_VALID: return start + WrongTime(certificate, false, now);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: return start + "certificate signed by unknown authority";
    default: return start + X509_verify_cert_error_string(result);
  }
}

}  // namespace apimesh::net
