#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {
namespace {

// Most questions have none, and then add nothing.
void Add(KeyedHash& hash, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  hash.AddNumber(texts.size());
  for (const std::string& text : texts) hash.Add(text);
}

void Add(KeyedHash& hash, const std::vector<service::Requirement>& requirements) {
  hash.AddNumber(requirements.size());
  for (const service::Requirement& requirement : requirements) {
    hash.Add(requirement.key);
    hash.Add(requirement.operation);
    Add(hash, requirement.values);
  }
}

}  // namespace

Digest KeyOf(const AuthenticationQuestion& question) {
  KeyedHash hash;
  hash.AddNumber(question.headers.size());
  for (const auto& [name, value] : question.headers) {
    hash.Add(name);
    hash.Add(value);
  }
  for (const std::string& certificate : question.certificates_der) hash.Add(certificate);
  Add(hash, question.audiences);
  return hash.Finish();
}

Digest KeyOf(const AuthorizationQuestion& question) {
  const meta::RequestInfo& info = question.info;
  KeyedHash hash;
  hash.Add(question.user->fingerprint);
  hash.AddNumber(info.is_resource_request ? 1 : 0);
  hash.Add(info.verb.Text());
  if (!info.is_resource_request) {
    hash.Add(info.path);
    return hash.Finish();
  }
  for (const std::string* part : {&info.api_group, &info.api_version, &info.ns, &info.resource, &info.subresource,
                                  &info.name, &info.field_selector, &info.label_selector}) {
    hash.Add(*part);
  }
  if (!question.fields.empty() || !question.labels.empty()) {
    Add(hash, question.fields);
    Add(hash, question.labels);
  }
  return hash.Finish();
}

}  // namespace apimesh::aggregator
