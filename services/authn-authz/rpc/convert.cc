#include "services/authn-authz/rpc/convert.h"

#include "lib/meta/selectors/operator_name.h"

namespace apimesh::authn_authz {
namespace {

std::vector<SelectorRequirement> Requirements(
    const google::protobuf::RepeatedPtrField<mesh::v1::SelectorRequirement>& from) {
  std::vector<SelectorRequirement> out;
  for (const auto& requirement : from) {
    out.push_back(
        {requirement.key(), requirement.operator_(), {requirement.values().begin(), requirement.values().end()}});
  }
  return out;
}

}  // namespace

void ToProto(const meta::UserInfo& user, mesh::v1::User* out) {
  out->set_name(user.name);
  out->set_uid(user.uid);
  for (const std::string& group : user.groups) out->add_groups(group);
  for (const auto& [key, values] : user.extra) {
    mesh::v1::ExtraEntry* entry = out->add_extra();
    entry->set_key(key);
    for (const std::string& value : values) entry->mutable_value()->add_values(value);
  }
}

meta::UserInfo FromProto(const mesh::v1::User& user) {
  meta::UserInfo out;
  out.name = user.name();
  out.uid = user.uid();
  out.groups.assign(user.groups().begin(), user.groups().end());
  for (const mesh::v1::ExtraEntry& entry : user.extra()) {
    const auto it = out.extra.try_emplace(out.extra.end(), entry.key());  // the entries are sorted
    it->second.assign(entry.value().values().begin(), entry.value().values().end());
  }
  return out;
}

void ParseSelectors(std::string_view field_selector, std::string_view label_selector, Attributes& attributes) {
  if (!field_selector.empty()) {
    if (const auto selector = meta::FieldSelector::Parse(field_selector)) {
      for (const auto& term : selector->Terms()) {
        attributes.field_requirements.push_back({term.field, term.equal ? "=" : "!=", {term.value}});
      }
    }
  }
  if (!label_selector.empty()) {
    if (const auto selector = meta::LabelSelector::Parse(label_selector)) {
      for (const auto& term : selector->Requirements()) {
        attributes.label_requirements.push_back({term.key, std::string(meta::OperatorName(term.op)), term.values});
      }
    }
  }
}

Attributes FromProto(const mesh::v1::Attributes& from) {
  const mesh::v1::RequestInfo& info = from.info();
  Attributes out;
  out.user = FromProto(from.user());
  out.is_resource_request = info.is_resource_request();
  out.verb = info.verb();
  out.ns = info.namespace_();
  out.api_group = info.api_group();
  out.api_version = info.api_version();
  out.resource = info.resource();
  out.subresource = info.subresource();
  out.name = info.name();
  out.path = from.path();
  out.field_requirements = Requirements(from.field_requirements());
  out.label_requirements = Requirements(from.label_requirements());
  const bool asked = !out.field_requirements.empty() || !out.label_requirements.empty();
  const bool selects =
      out.verb == meta::Verb::kList || out.verb == meta::Verb::kWatch || out.verb == meta::Verb::kDeleteCollection;
  if (!asked && selects) ParseSelectors(info.field_selector(), info.label_selector(), out);
  return out;
}

void ToProto(const Decision& decision, std::chrono::milliseconds longest_reuse, mesh::v1::Decision* out) {
  switch (decision.verdict) {
    case Decision::Verdict::kAllow: out->set_verdict(mesh::v1::Decision::ALLOW); break;
    case Decision::Verdict::kDeny: out->set_verdict(mesh::v1::Decision::DENY); break;
    case Decision::Verdict::kNoOpinion: out->set_verdict(mesh::v1::Decision::NO_OPINION); break;
  }
  out->set_reason(decision.reason);
  out->set_error(decision.error);
  const Duration reuse = std::min<Duration>(decision.reuse, longest_reuse);
  out->set_cache_milliseconds(
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(reuse).count()));
}

}  // namespace apimesh::authn_authz
