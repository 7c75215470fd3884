#include "services/aggregator/edge/client_identity.h"

#include <algorithm>
#include <memory>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/meta/selectors/query.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kXfcc = "x-forwarded-client-cert";

bool IsProxyHeader(std::string_view name) {
  return name == kXfcc || name == "x-forwarded-for" || name.starts_with("x-envoy-");
}

/// Whether the name equals that of an identity header if underscores are replaced by dashes. The mesh does not read
/// such headers, but a server behind it might, because CGI and its successors treat both names as equal.
bool ImitatesIdentityHeader(const std::string& name) {
  if (name.find('_') == std::string::npos) return false;
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  const auto is_prefix = [&dashed](std::string_view prefix) { return dashed.starts_with(prefix); };
  constexpr std::string_view kPrefixes[] = {"x-remote-", "impersonate-", "x-forwarded-", "x-envoy-", "x-apimesh-"};
  return dashed == "authorization" || std::any_of(std::begin(kPrefixes), std::end(kPrefixes), is_prefix);
}

std::vector<std::string> PemToDer(const std::string& pem) {
  std::vector<std::string> all;
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  unsigned char* der = nullptr;
  long size = 0;
  while (all.size() < 16 &&
         PEM_bytes_read_bio(&der, &size, nullptr, PEM_STRING_X509, bio.get(), nullptr, nullptr) == 1) {
    all.emplace_back(reinterpret_cast<char*>(der), size);
    OPENSSL_free(der);
    der = nullptr;
  }
  return all;
}

// Splits at `separator` outside of double quotes.
std::vector<std::string_view> SplitOutsideQuotes(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;  // an escaped character, which may be a quote or a backslash
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == separator && !quoted) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(text.substr(start));
  return parts;
}

}  // namespace

std::vector<std::string> CertificatesOfXfcc(std::string_view header) {
  const std::string_view element = SplitOutsideQuotes(header, ',').back();
  std::string_view certificate, chain;
  for (const std::string_view pair : SplitOutsideQuotes(element, ';')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = pair.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (pair.substr(0, equals) == "Cert") certificate = value;
    if (pair.substr(0, equals) == "Chain") chain = value;
  }
  const auto pem = meta::PercentDecode(chain.empty() ? certificate : chain, false);
  return pem ? PemToDer(*pem) : std::vector<std::string>();
}

ClientIdentity IdentifyClient(Listener listener, const net::Peer& peer, http::Headers& headers) {
  ClientIdentity identity;
  const auto forwarded = std::find_if(headers.begin(), headers.end(),
                                      [](const auto& header) { return header.first == "x-forwarded-for"; });
  if (forwarded != headers.end()) identity.forwarded_for = forwarded->second;
  if (listener == Listener::kPublic) {
    identity.certificates_der = peer.certificates_der;
    identity.address = peer.address;
  } else {
    std::string xfcc, forwarded_for;
    int xfcc_count = 0;
    for (const auto& [name, value] : headers) {
      if (name == kXfcc) {
        xfcc = value;
        ++xfcc_count;
      }
      if (name == "x-forwarded-for") forwarded_for = value;
    }
    if (xfcc_count == 1) identity.certificates_der = CertificatesOfXfcc(xfcc);
    const std::size_t comma = forwarded_for.rfind(',');
    identity.address = comma == std::string::npos ? forwarded_for : forwarded_for.substr(comma + 1);
    while (identity.address.starts_with(' ')) identity.address.erase(0, 1);
    if (identity.address.empty()) identity.address = peer.address;
  }
  std::erase_if(headers,
                [](const auto& header) { return IsProxyHeader(header.first) || ImitatesIdentityHeader(header.first); });
  return identity;
}

}  // namespace apimesh::aggregator
