#include "lib/admission/plugins/resource_quota/configuration.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission::resource_quota {
namespace {

json::object ReadDocument(std::string_view text) {
  static constexpr codec::SectionType kTypes[] = {{"apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"},
                                                  {"resourcequota.admission.k8s.io/v1beta1", "Configuration"},
                                                  {"resourcequota.admission.k8s.io/v1alpha1", "Configuration"}};
  static const codec::SectionStruct kRequirement = {
      "ScopedResourceSelectorRequirement", {{"scopeName", "string"}, {"operator", "string"}, {"values", "[]string"}}};
  static const codec::SectionStruct kLimited = {
      "LimitedResource",
      {{"apiGroup", "string"},
       {"resource", "string"},
       {"matchContains", "[]string"},
       {"matchScopes", "[]v1.ScopedResourceSelectorRequirement", &kRequirement}}};
  static const codec::SectionStruct kConfiguration = {"Configuration",
                                                      {{"limitedResources", "[]v1.LimitedResource", &kLimited}}};
  return codec::ReadStrictSection(text, kTypes, kConfiguration);
}

}  // namespace

std::vector<LimitedResource> ReadLimitedResources(const std::optional<std::string>& section) {
  std::vector<LimitedResource> limited;
  if (!section) return limited;
  const json::object document = ReadDocument(*section);
  std::vector<std::string> errors;
  for (const json::value& item : ListAt(document, "limitedResources")) {
    static const json::object kNone;
    const json::object& fields = item.is_object() ? item.get_object() : kNone;
    LimitedResource one;
    one.resource.group = meta::FindString(fields, "apiGroup");
    one.resource.resource = meta::FindString(fields, "resource");
    for (const json::value& part : ListAt(fields, "matchContains")) {
      if (part.is_string()) one.match_contains.emplace_back(part.get_string());
    }
    one.match_scopes = ReadRequirements(ListAt(fields, "matchScopes"));
    if (one.resource.resource.empty()) {
      const std::string field = fmt::format("limitedResources[{}].resource", limited.size());
      errors.push_back(fmt::format("{}: {}", field, meta::Required(field, "").Message()));
    }
    limited.push_back(std::move(one));
  }
  if (!errors.empty()) throw std::invalid_argument(JoinErrors(errors));
  return limited;
}

}  // namespace apimesh::admission::resource_quota
