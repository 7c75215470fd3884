#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/names.h"
#include "services/core-api/groups/certificates/certificatesigningrequest/validation.h"

namespace apimesh::core_api {
namespace {

using meta::Quoted;

constexpr std::size_t kMaxDomain = 253, kMaxPath = 253 + 63 + 1;

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

}  // namespace apimesh::core_api
