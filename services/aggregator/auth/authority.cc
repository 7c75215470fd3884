#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

Digest KeyOf(const AuthenticationQuestion& question) {
  KeyedHash hash;
  hash.AddNumber(question.headers.size());
  for (const auto& [name, value] : question.headers) {
    hash.Add(name);
    hash.Add(value);
  }
  for (const std::string& certificate : question.certificates_der) hash.Add(certificate);
  return hash.Finish();
}

Digest KeyOf(const AuthorizationQuestion& question) {
  const meta::RequestInfo& info = question.info;
  KeyedHash hash;
  hash.Add(question.user->fingerprint);
  hash.AddNumber(info.is_resource_request ? 1 : 0);
  hash.Add(info.verb);
  if (!info.is_resource_request) {
    hash.Add(info.path);
    return hash.Finish();
  }
  for (const std::string* part : {&info.api_group, &info.api_version, &info.ns, &info.resource, &info.subresource,
                                  &info.name, &info.field_selector, &info.label_selector}) {
    hash.Add(*part);
  }
  return hash.Finish();
}

Task<std::vector<AuthorizationAnswer>> Authority::AuthorizeAll(std::vector<AuthorizationQuestion> questions) {
  std::vector<AuthorizationAnswer> answers;
  for (AuthorizationQuestion& question : questions) {
    AuthorizationAnswer answer = co_await Authorize(std::move(question));
    answers.push_back(std::move(answer));
  }
  co_return answers;
}

}  // namespace apimesh::aggregator
