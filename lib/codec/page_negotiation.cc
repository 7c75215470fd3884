#include "lib/codec/page_negotiation.h"

#include <optional>

#include "lib/codec/accept.h"

namespace apimesh::codec {
namespace {

struct Offered {
  std::string_view type, subtype;
  PageType page;
};

// A clause with a wildcard selects the first type whose parameters fit.
const Offered kOffered[] = {{"application", "json", {.text = false, .format = Format::kJson}},
                            {"application", "yaml", {.text = false, .format = Format::kYaml}},
                            {"text", "plain", {.text = true}}};

bool Matches(const AcceptClause& clause, const Offered& offered) {
  if (clause.type == "*") return clause.subtype == "*";
  return clause.type == offered.type && (clause.subtype == "*" || clause.subtype == offered.subtype);
}

std::optional<PageType> Accept(const AcceptClause& clause, const Offered& offered, std::string_view kind) {
  PageType page = offered.page;
  std::string group, as;
  bool converts = false;
  for (const auto& [name, value] : clause.parameters) {
    converts |= name == "as" || name == "g" || name == "v";
    if (name == "as") as = value;
    if (name == "g") group = value;
    if (name == "v") page.version = value;
    if (name == "pretty") page.pretty = value == "1";
    if ((name == "stream" || name == "sv") && !value.empty()) return std::nullopt;
  }
  if (page.text) return converts ? std::nullopt : std::optional(page);
  const bool known = page.version == "v1beta1" || page.version == "v1alpha1";
  return as == kind && group == "config.k8s.io" && known ? std::optional(page) : std::nullopt;
}

}  // namespace

meta::Result<PageType> NegotiatePage(std::string_view accept, std::string_view kind) {
  if (accept.find_first_not_of(" \t") == std::string_view::npos) return PageType{};
  for (const AcceptClause& clause : ParseAccept(accept)) {
    for (const Offered& offered : kOffered) {
      if (!Matches(clause, offered)) continue;
      if (std::optional<PageType> page = Accept(clause, offered, kind)) return *page;
    }
  }
  return meta::NotAcceptable(
      "only the following media types are accepted: application/json, application/yaml, text/plain");
}

}  // namespace apimesh::codec
