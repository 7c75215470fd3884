#include "lib/admission/plugins/node_restriction/certificate_rules.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>

#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/auth/base64url.h"

namespace apimesh::admission::node_restriction {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
  void operator()(void* bytes) const { OPENSSL_free(bytes); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

struct ParsedRequest {
  std::string common_name;
  std::string error;  // empty: it could be parsed
};

std::string ToUtf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  const Owned<void> owner(bytes);
  return size < 0 ? std::string() : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

/// The last common name of the subject, which is the one that Go's parser keeps.
std::string CommonName(const X509_NAME* subject) {
  std::string found;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;) {
    found = ToUtf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
  }
  return found;
}

ParsedRequest ParsePem(const std::string& pem) {
  const Owned<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  char *name = nullptr, *header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  const bool found = PEM_read_bio(bio.get(), &name, &header, &bytes, &size) == 1;
  const Owned<void> own_name(name), own_header(header), own_bytes(bytes);
  if (!found || std::string_view(name) != "CERTIFICATE REQUEST") {
    return {"", "PEM block type must be CERTIFICATE REQUEST"};
  }
  const unsigned char* rest = bytes;
  const Owned<X509_REQ> request(d2i_X509_REQ(nullptr, &rest, size));
  if (!request || rest != bytes + size) return {"", "x509: malformed certificate request"};
  return {CommonName(X509_REQ_get_subject_name(request.get())), ""};
}

ParsedRequest Parse(const std::string& pem) {
  ParsedRequest parsed = ParsePem(pem);
  ERR_clear_error();  // A TLS connection on this thread would take a failure that stays in the queue for its own.
  return parsed;
}

}  // namespace

meta::Result<> CheckSigningRequest(const std::string& node, const Attributes& attributes) {
  if (attributes.operation != Operation::kCreate) return {};
  const meta::json::object& root = attributes.object->Root();
  const std::string_view signer = meta::FindString(root, "spec", "signerName");
  if (signer != "kubernetes.io/kubelet-serving" && signer != "kubernetes.io/kube-apiserver-client-kubelet") return {};
  const std::optional<std::string> pem = auth::DecodeBase64(meta::FindString(root, "spec", "request"));
  const ParsedRequest parsed = Parse(pem.value_or(""));
  if (!parsed.error.empty()) return Forbidden(attributes, "unable to parse csr: " + parsed.error);
  if (parsed.common_name == "system:node:" + node) return {};
  return Refuse(attributes, "can only create a node CSR with CN=system:node:{}", node);
}

}  // namespace apimesh::admission::node_restriction
