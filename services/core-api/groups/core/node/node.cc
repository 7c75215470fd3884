#include "services/core-api/groups/core/node/node.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/names.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/node/proxy.h"
#include "services/core-api/groups/core/service/ip_range.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

Check Spec(const meta::Object& node, meta::FieldErrors& errors) {
  static const json::object empty;
  const json::value* spec = meta::FindField(node.Root(), "spec");
  return Check(spec && spec->is_object() ? spec->get_object() : empty, meta::Path("spec"), errors);
}

/// Errors name metadata.taints, as in kube-apiserver.
void ValidateTaints(const Check& spec, meta::FieldErrors& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::size_t index = 0;
  for (const Check& given : spec.Each("taints")) {
    const Check taint(given.Object(), meta::Path("metadata.taints").Index(index++), errors);
    for (std::string& complaint : meta::CheckQualifiedName(taint.Text("key")))
      taint.Invalid("key", std::move(complaint));
    if (const meta::Complaints complaints = meta::CheckLabelValue(taint.Text("value")); !complaints.empty()) {
      taint.Invalid("value", fmt::format("{}", fmt::join(complaints, ";")));
    }
    taint.RequireOneOf("effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (seen.emplace(taint.Text("key"), taint.Text("effect")).second) continue;
    // kube-apiserver shows its internal representation of a taint here.
    meta::FieldError twice = meta::Duplicate(
        taint.Path().ToString(), fmt::format(R"({{"Key":"{}","Value":"{}","Effect":"{}","TimeAdded":null}})",
                                             taint.Text("key"), taint.Text("value"), taint.Text("effect")));
    twice.detail = "taints must be unique by key and effect pair";
    errors.push_back(std::move(twice));
  }
}

std::vector<std::string> PodCidrs(const Check& spec) {
  std::vector<std::string> cidrs;
  const json::value* list = meta::FindField(spec.Object(), "podCIDRs");
  if (!list || !list->is_array()) return cidrs;
  for (const json::value& cidr : list->get_array()) {
    if (cidr.is_string()) cidrs.emplace_back(cidr.get_string());
  }
  return cidrs;
}

void ValidateCidrs(const Check& spec) {
  const std::vector<std::string> cidrs = PodCidrs(spec);
  std::set<std::string_view> families;
  for (std::size_t i = 0; i < cidrs.size(); ++i) {
    const std::optional<IpRange> range = IpRange::Parse(cidrs[i]);
    if (range) {
      families.insert(range->Family());
    } else {
      spec.Add(meta::Invalid(fmt::format("spec.podCIDRs[{}]", i), meta::Quoted(cidrs[i]),
                             "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
  }
  if (cidrs.size() > 1 && families.size() != cidrs.size())
    spec.Invalid("podCIDRs", "may specify no more than one CIDR for each IP family");
}

void ValidateAddresses(const meta::Object& node, meta::FieldErrors& errors) {
  static const json::object empty;
  const json::value* status = meta::FindField(node.Root(), "status");
  const Check check(status && status->is_object() ? status->get_object() : empty, meta::Path("status"), errors);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Check& address : check.Each("addresses")) {
    if (seen.emplace(address.Text("type"), address.Text("address")).second) continue;
    // kube-apiserver shows its internal representation of an address here.
    errors.push_back(meta::Duplicate(address.Path().ToString(),
                                     fmt::format(R"({{"Type":{},"Address":{}}})", meta::Quoted(address.Text("type")),
                                                 meta::Quoted(address.Text("address")))));
  }
}

/// Makes podCIDR and podCIDRs agree. podCIDR takes precedence.
void SyncCidrs(json::object& object) {
  json::value* spec = meta::FindField(object, "spec");
  if (!spec || !spec->is_object()) return;
  json::object& fields = spec->get_object();
  const std::string single(meta::FindString(fields, "podCIDR"));
  json::value* list = meta::FindField(fields, "podCIDRs");
  if (single.empty()) {
    if (list && list->is_array() && !list->get_array().empty()) fields["podCIDR"] = list->get_array().front();
    return;
  }
  if (list && list->is_array() && !list->get_array().empty() && list->get_array().front() == json::value(single))
    return;
  fields["podCIDRs"] = json::array{json::string(single)};
}

/// A node may be created with a status by the client that registers it.
class NodeStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    SyncCidrs(object);
    json::value* status = meta::FindField(object, "status");
    if (!status || !status->is_object()) return;
    json::value* capacity = meta::FindField(status->get_object(), "capacity");
    const json::value* allocatable = meta::FindField(status->get_object(), "allocatable");
    if (capacity && capacity->is_object() &&
        !(allocatable && allocatable->is_object() && !allocatable->get_object().empty())) {
      const json::object copy = capacity->get_object();
      status->get_object()["allocatable"] = copy;
    }
  }
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    if (json::value* spec = meta::FindField(object.Root(), "spec"); spec && spec->is_object())
      meta::EraseField(spec->get_object(), "configSource");
    if (json::value* status = meta::FindField(object.Root(), "status"); status && status->is_object())
      meta::EraseField(status->get_object(), "config");
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = Spec(object, errors);
    ValidateTaints(spec, errors);
    ValidateCidrs(spec);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    ValidateAddresses(object, errors);
    const Check now = Spec(object, errors), before = Spec(old, errors);
    if (!PodCidrs(before).empty() && PodCidrs(before) != PodCidrs(now)) {
      errors.push_back(
          meta::Forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid"));
    }
    if (!before.Text("providerID").empty() && before.Text("providerID") != now.Text("providerID")) {
      errors.push_back(
          meta::Forbidden("spec.providerID", "node updates may not change providerID except from \"\" to valid"));
    }
    return errors;
  }
};

/// Kubelets also set labels and annotations with updates of the status.
class NodeStatusStrategy final : public registry::Strategy {
 public:
  explicit NodeStatusStrategy(registry::StrategyPtr base) : base_(std::move(base)) {}
  void Default(json::object& object) const override { base_->Default(object); }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    if (const json::value* spec = meta::FindField(old.Root(), "spec")) {
      object.Root()["spec"] = *spec;
    } else {
      meta::EraseField(object.Root(), "spec");
    }
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    return base_->ValidateUpdate(ctx, object, old);
  }

 private:
  registry::StrategyPtr base_;
};

std::string Status(const json::object& root) {
  std::string status = "Unknown";
  for (const json::object& condition : Objects(meta::Find(root, "status", "conditions"))) {
    if (meta::FindString(condition, "type") == "Ready")
      status = meta::FindString(condition, "status") == "True" ? "Ready" : "NotReady";
  }
  const json::value* cordoned = meta::Find(root, "spec", "unschedulable");
  return cordoned && cordoned->is_bool() && cordoned->get_bool() ? status + ",SchedulingDisabled" : status;
}

std::string Roles(const meta::Object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/", kRole = "kubernetes.io/role";
  std::set<std::string_view> roles;
  const json::value* labels = meta::FindField(node.Metadata(), "labels");
  if (labels && labels->is_object()) {
    for (const auto& [key, value] : labels->get_object()) {
      std::string_view name = key;
      if (name.starts_with(kPrefix) && name.size() > kPrefix.size()) roles.insert(name.substr(kPrefix.size()));
      if (name == kRole && value.is_string() && !value.get_string().empty()) roles.insert(value.get_string());
    }
  }
  return roles.empty() ? "<none>" : fmt::format("{}", fmt::join(roles, ","));
}

json::value Address(const json::object& root, std::string_view type) {
  for (const json::object& address : Objects(meta::Find(root, "status", "addresses"))) {
    if (meta::FindString(address, "type") == type) return TextCell(meta::FindString(address, "address"));
  }
  return "<none>";
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const auto info = [&](std::string_view field) { return meta::FindString(root, "status", "nodeInfo", field); };
  std::string kernel(info("kernelVersion").empty() ? "<unknown>" : info("kernelVersion"));
  if (!info("architecture").empty()) kernel += fmt::format(" ({})", info("architecture"));
  return {json::string(object.Name()),
          Status(root),
          Roles(object),
          AgeCell(object, ages),
          TextCell(info("kubeletVersion")),
          Address(root, "InternalIP"),
          Address(root, "ExternalIP"),
          TextCell(info("osImage"), "<unknown>"),
          kernel,
          TextCell(info("containerRuntimeVersion"), "<unknown>")};
}

}  // namespace

registry::Resource NodeResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "nodes", std::make_shared<NodeStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<NodeStatusStrategy>(resource.strategy);
  resource.selectable_fields = {"spec.unschedulable"};
  resource.field_defaults = {"false"};
  SubresourceOf(resource, "proxy").connector = NodeProxyConnector(inputs.kubelets, inputs.cluster_client);
  resource.table = {{NameColumn(),
                     {.name = "Status", .description = "Whether pods can run there."},
                     {.name = "Roles", .description = "What it is for, by its labels."},
                     AgeColumn(),
                     {.name = "Version", .description = "Version of its kubelet."},
                     WideColumn("Internal-IP", "Its address inside of the cluster."),
                     WideColumn("External-IP", "Its address for the world outside."),
                     WideColumn("OS-Image", "Its operating system."),
                     WideColumn("Kernel-Version", "Its kernel."),
                     WideColumn("Container-Runtime", "What runs its containers.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "metadata.labels", "spec.unschedulable",
                     "status.conditions.type", "status.conditions.status", "status.addresses", "status.nodeInfo"}};
  return resource;
}

}  // namespace apimesh::core_api
