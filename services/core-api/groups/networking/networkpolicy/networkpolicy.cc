#include "services/core-api/groups/networking/networkpolicy/networkpolicy.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Texts = std::set<std::string_view>;

/// The two lists of rules, and the field of their peers.
struct Direction {
  const char* rules;
  const char* peers;
};
constexpr Direction kDirections[] = {{"ingress", "from"}, {"egress", "to"}};

void ValidatePort(const Check& port) {
  const auto invalid = [&port](const char* field, std::int64_t value, std::string detail) {
    port.Add(meta::Invalid(port.Path().Child(field).ToString(), fmt::format("{}", value), std::move(detail)));
  };
  const std::string_view protocol = port.Text("protocol");
  if (port.Has("protocol") && protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
    port.Add(
        meta::NotSupported(port.Path().Child("protocol").ToString(), meta::Quoted(protocol), {"TCP", "UDP", "SCTP"}));
  const std::optional<std::int64_t> end = port.Number("endPort");
  if (const std::optional<std::int64_t> number = port.Number("port")) {
    for (std::string& complaint : meta::CheckPortNumber(*number)) invalid("port", *number, std::move(complaint));
    if (!end) return;
    if (*end < *number) invalid("endPort", *number, "must be greater than or equal to `port`");
    for (std::string& complaint : meta::CheckPortNumber(*end)) invalid("endPort", *end, std::move(complaint));
  } else if (port.Has("port")) {
    if (end) invalid("endPort", *end, "may not be specified when `port` is non-numeric");
    CheckText(port, port.Path().Child("port"), port.Text("port"), meta::CheckPortName);
  } else if (end) {
    invalid("endPort", *end, "may not be specified when `port` is not specified");
  }
}

void ValidateSelectorField(const Check& holder, const char* field) {
  const std::optional<Check> selector = holder.Child(field);
  if (!selector) return;
  for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
    holder.Add(std::move(error));
}

/// `known` are the CIDRs of the stored object, which may have been valid when they were stored.
void ValidateBlock(const Check& block, const Texts& known) {
  if (!block.Require("cidr")) return;
  const std::string_view text = block.Text("cidr");
  if (!known.contains(text)) CheckText(block, block.Path().Child("cidr"), text, CheckCidr);
  const std::optional<Cidr> cidr = ParseCidr(text);
  if (!cidr) return;
  std::size_t index = 0;
  for (const std::string_view except : TextsOf(block, "except")) {
    const meta::Path path = block.Path().Child("except").Index(index++);
    if (!known.contains(except)) CheckText(block, path, except, CheckCidr);
    const std::optional<Cidr> inner = ParseCidr(except);
    if (inner && (!cidr->Contains(inner->Network()) || cidr->bits >= inner->bits))
      block.Add(meta::Invalid(path.ToString(), meta::Quoted(except), "must be a strict subset of `cidr`"));
  }
}

void ValidatePeer(const Check& peer, const Texts& known) {
  ValidateSelectorField(peer, "podSelector");
  ValidateSelectorField(peer, "namespaceSelector");
  const std::optional<Check> block = peer.Child("ipBlock");
  if (block) ValidateBlock(*block, known);
  const bool selectors = peer.Has("podSelector") || peer.Has("namespaceSelector");
  if (!selectors && !block) peer.Add(meta::Required(peer.Path().ToString(), "must specify a peer"));
  if (selectors && block)
    peer.Add(meta::Forbidden(peer.Path().ToString(), "may not specify both ipBlock and another peer"));
}

void ValidateTypes(const Check& spec) {
  const std::vector<std::string_view> types = TextsOf(spec, "policyTypes");
  if (types.size() > 2) {
    spec.Invalid("policyTypes", "may not specify more than two policyTypes");
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "Ingress" || types[i] == "Egress") continue;
    spec.Add(meta::NotSupported(spec.Path().Child("policyTypes").Index(i).ToString(), meta::Quoted(types[i]),
                                {"Ingress", "Egress"}));
  }
}

/// Calls `visit` with each ipBlock of a policy.
template <class Visit>
void EachBlock(const Check& spec, Visit visit) {
  for (const Direction& direction : kDirections) {
    for (const Check& rule : spec.Each(direction.rules)) {
      for (const Check& peer : rule.Each(direction.peers)) {
        if (const std::optional<Check> block = peer.Child("ipBlock")) visit(*block);
      }
    }
  }
}

meta::FieldErrors ValidatePolicy(const meta::Object& object, const Texts& known) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(object, errors);
  ValidateSelectorField(spec, "podSelector");
  for (const Direction& direction : kDirections) {
    for (const Check& rule : spec.Each(direction.rules)) {
      for (const Check& port : rule.Each("ports")) ValidatePort(port);
      for (const Check& peer : rule.Each(direction.peers)) ValidatePeer(peer, known);
    }
  }
  ValidateTypes(spec);
  return errors;
}

class NetworkPolicyStrategy final : public registry::Strategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    const json::value* types = meta::FindField(spec, "policyTypes");
    if (types && types->is_array() && !types->get_array().empty()) return;
    const json::value* egress = meta::FindField(spec, "egress");
    json::array all = {"Ingress"};
    if (egress && egress->is_array() && !egress->get_array().empty()) all.emplace_back("Egress");
    spec["policyTypes"] = std::move(all);
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidatePolicy(object, {});
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    Texts known;
    meta::FieldErrors ignored;
    EachBlock(SpecOf(old, ignored), [&known](const Check& block) {
      known.insert(block.Text("cidr"));
      for (const std::string_view except : TextsOf(block, "except")) known.insert(except);
    });
    return ValidatePolicy(object, known);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    const auto add = [&warnings](const meta::Path& path, std::string_view text) {
      for (std::string& warning : CidrWarnings(path, text)) warnings.push_back(std::move(warning));
    };
    meta::FieldErrors ignored;
    EachBlock(SpecOf(object, ignored), [&add](const Check& block) {
      add(block.Path().Child("cidr"), block.Text("cidr"));
      std::size_t index = 0;
      for (const std::string_view except : TextsOf(block, "except"))
        add(block.Path().Child("except").Index(index++), except);
    });
    return warnings;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), SelectorText(meta::Find(object.Root(), "spec", "podSelector")),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource NetworkPolicyResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("networking.k8s.io", "v1", "networkpolicies", std::make_shared<NetworkPolicyStrategy>());
  resource.generation = true;
  resource.table = {
      {NameColumn(), {.name = "Pod-Selector", .description = "The pods that the policy applies to."}, AgeColumn()},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "spec.podSelector"}};
  return resource;
}

}  // namespace apimesh::core_api
