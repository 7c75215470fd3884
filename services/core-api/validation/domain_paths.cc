#include "services/core-api/validation/domain_paths.h"

#include <algorithm>

namespace apimesh::core_api {
namespace {

constexpr std::string_view kPathPattern = R"([A-Za-z0-9/\-._~%!$&'()*+,;=:]+)";

bool IsPathCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~%!$&'()*+,;=:").find(c) != std::string_view::npos;
}

}  // namespace

void ValidateDomainPrefixedPath(const Check& holder, std::string_view field) {
  if (!holder.Require(field)) return;
  const std::string_view text = holder.Text(field);
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size())
    return holder.Invalid(field, R"(must be a domain-prefixed path (such as "acme.io/foo"))");
  const std::string path = holder.Path().Child(field).ToString();
  const std::string_view host = text.substr(0, slash);
  for (std::string& complaint : meta::CheckDnsSubdomain(host))
    holder.Add(meta::Invalid(path, meta::Quoted(host), std::move(complaint)));
  const std::string_view rest = text.substr(slash + 1);
  if (!std::all_of(rest.begin(), rest.end(), IsPathCharacter))
    holder.Add(meta::Invalid(path, meta::Quoted(rest), meta::PatternText("Invalid path", kPathPattern, {})));
}

}  // namespace apimesh::core_api
