#include "services/core-api/groups/certificates/signers/signers.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/names.h"

namespace apimesh::core_api {
namespace {

using meta::Quoted;

constexpr std::int64_t kDaySeconds = 24 * 60 * 60, kMaxDays = 91;
constexpr std::size_t kMaxDomain = 253, kMaxPath = 253 + 63 + 1, kMaxAnnotationBytes = 256 * 1024;

/// Reports the first invalid label only, because the errors of the others have the same text.
void CheckLabels(const std::string& field, std::string_view segment, meta::Complaints (*rule)(std::string_view),
                 meta::FieldErrors& errors) {
  for (const std::string_view label : Split(segment, '.')) {
    const meta::Complaints complaints = rule(label);
    for (const std::string& complaint : complaints) {
      errors.push_back(
          meta::Invalid(field, Quoted(segment), fmt::format("validating label {}: {}", Quoted(label), complaint)));
    }
    if (!complaints.empty()) return;
  }
}

}  // namespace

void CheckSignerName(const std::string& field, std::string_view signer, meta::FieldErrors& errors) {
  if (signer.empty()) {
    errors.push_back(meta::Required(field, ""));
    return;
  }
  const std::vector<std::string_view> segments = Split(signer, '/');
  if (segments.size() != 2) {
    errors.push_back(meta::Invalid(field, Quoted(signer),
                                   "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
    return;
  }
  if (segments[0].size() > kMaxDomain) errors.push_back(meta::TooLong(field, kMaxDomain));
  CheckLabels(field, segments[0], &meta::CheckDnsLabel, errors);
  if (segments[0].find('.') == std::string_view::npos) {
    errors.push_back(
        meta::Invalid(field, Quoted(segments[0]), "should be a domain with at least two segments separated by dots"));
  }
  CheckLabels(field, segments[1], &meta::CheckDnsSubdomain, errors);
  if (signer.size() > kMaxDomain + kMaxPath + 1) errors.push_back(meta::TooLong(field, kMaxDomain + kMaxPath + 1));
}

bool IsKubernetesSigner(std::string_view signer) {
  const std::string_view host = signer.substr(0, signer.find('/'));
  return host == "kubernetes.io" || host.ends_with(".kubernetes.io");
}

meta::Complaints CheckTrustBundleName(std::string_view name, std::string_view signer) {
  if (signer.empty()) {
    if (name.find(':') != std::string_view::npos) {
      return {"ClusterTrustBundle without signer name must not have \":\" in its name"};
    }
    return meta::CheckDnsSubdomain(name);
  }
  std::string prefix = fmt::format("{}:", signer);
  std::replace(prefix.begin(), prefix.end(), '/', ':');
  if (!name.starts_with(prefix)) {
    return {fmt::format("ClusterTrustBundle for signerName {} must be named with prefix {}", signer, prefix)};
  }
  return meta::CheckDnsSubdomain(name.substr(prefix.size()));
}

void ValidateUserAnnotations(const Check& holder, std::string_view field) {
  const meta::json::value* const annotations = meta::FindField(holder.Object(), field);
  if (!annotations || !annotations->is_object()) return;
  const meta::Path path = holder.Path().Child(field);
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations->get_object()) {
    if (holder.Full()) return;
    bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
    const std::string lower = LowerCase(key);
    if (lower.empty()) {
      holder.Add(meta::Required(path.ToString(), ""));
      continue;
    }
    meta::Complaints complaints = meta::CheckQualifiedName(lower);
    if (complaints.empty() && lower.find('/') == std::string::npos)
      complaints.emplace_back("must be a domain-prefixed key (such as \"acme.io/foo\")");
    for (std::string& complaint : complaints)
      holder.Add(meta::Invalid(path.ToString(), Quoted(lower), std::move(complaint)));
  }
  if (bytes > kMaxAnnotationBytes) holder.Add(meta::TooLong(path.ToString(), kMaxAnnotationBytes));
}

std::int64_t MaxCertificateSeconds(std::string_view signer) {
  return IsKubernetesSigner(signer) ? kDaySeconds : kMaxDays * kDaySeconds;
}

}  // namespace apimesh::core_api
