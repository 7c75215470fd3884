#include "lib/admission/plugins/service_account/service_account.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/node_restriction/pod_references.h"
#include "lib/admission/plugins/service_account/mountable_secrets.h"
#include "lib/admission/plugins/service_account/token_volume.h"
#include "lib/base/async/wakeup.h"
#include "lib/meta/names.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

constexpr std::string_view kDefaultAccount = "default";
constexpr int kDefaultAttempts = 10;  // for the account "default", which a controller creates with the namespace

bool IsMirrorPod(const meta::Object& pod) { return pod.Annotation("kubernetes.io/config.mirror") != nullptr; }

bool ProjectsToken(const json::object& volume) {
  return AnyOf(ListAt(ObjectAt(volume, "projected"), "sources"),
               [](const json::object& source) { return Has(source, "serviceAccountToken"); });
}

/// Returns the account that a pod names. `serviceAccount` is the deprecated name of the field.
std::string_view AccountOf(const json::object& spec) {
  const std::string_view name = FindString(spec, "serviceAccountName");
  return name.empty() ? FindString(spec, "serviceAccount") : name;
}

/// Mirror pods are copies of pods that a kubelet starts by itself, so the server cannot give them an account.
meta::Result<> CheckMirrorPod(const Attributes& attributes) {
  const meta::Object& pod = *attributes.object;
  if (!AccountOf(SpecOf(pod)).empty()) return Forbidden(attributes, "a mirror pod may not reference service accounts");
  if (node_restriction::RefersToSecret(pod)) return Forbidden(attributes, "a mirror pod may not reference secrets");
  if (AnyOf(ListAt(SpecOf(pod), "volumes"), &ProjectsToken))
    return Forbidden(attributes, "a mirror pod may not use ServiceAccountToken volume projections");
  return {};
}

bool Automounts(const meta::Object& account, const json::object& spec) {
  const std::string_view field = "automountServiceAccountToken";
  return BoolAt(spec, field).value_or(BoolAt(account.Root(), field).value_or(true));
}

void AddPullSecrets(const meta::Object& account, json::object& spec) {
  const json::array& secrets = ListAt(account.Root(), "imagePullSecrets");
  if (secrets.empty() || !ListAt(spec, "imagePullSecrets").empty()) return;
  json::array& list = MakeList(spec, "imagePullSecrets");
  for (const json::value& secret : secrets) {
    if (!secret.is_object()) continue;
    json::object& reference = list.emplace_back(json::object()).get_object();
    const std::string_view name = FindString(secret.get_object(), "name");
    if (!name.empty()) reference["name"] = name;
  }
}

class ServiceAccount final : public Plugin {
 public:
  explicit ServiceAccount(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    if (!IsResource(attributes, "", "pods")) return false;
    if (attributes.operation == Operation::kCreate) return attributes.subresource.empty();
    return phase == Phase::kValidate && attributes.operation == Operation::kUpdate &&
           attributes.subresource == "ephemeralcontainers";
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    meta::Object& pod = *attributes.object;
    if (IsMirrorPod(pod)) co_return CheckMirrorPod(attributes);
    json::object& spec = SpecOf(pod);
    const std::string_view given = AccountOf(spec);
    const std::string name(given.empty() ? kDefaultAccount : given);
    // Both names of the field always have the same value.
    spec["serviceAccountName"] = name;
    spec["serviceAccount"] = name;
    ASSIGN_OR_CO_RETURN(const ObjectPtr account, co_await Find(ctx, attributes, name));
    if (Automounts(*account, spec)) service_account::MountToken(spec);
    AddPullSecrets(*account, spec);
    co_return CheckSecrets(*account, attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const meta::Object& pod = *attributes.object;
    const bool creates = attributes.operation == Operation::kCreate;
    if (creates && IsMirrorPod(pod)) co_return CheckMirrorPod(attributes);
    const std::string name(FindString(SpecOf(pod), "serviceAccountName"));
    if (name.empty()) {
      co_return Forbidden(attributes,
                          fmt::format("no service account specified for pod {}/{}", attributes.ns, pod.Name()));
    }
    ASSIGN_OR_CO_RETURN(const ObjectPtr account, co_await Find(ctx, attributes, name));
    if (creates) co_return CheckSecrets(*account, attributes);
    if (!service_account::EnforcesMountableSecrets(*account)) co_return meta::Result<>();
    std::string error = service_account::FindForbiddenEphemeralSecret(*account, pod);
    if (!error.empty()) co_return PlainError(std::move(error));
    co_return meta::Result<>();
  }

 private:
  static meta::Result<> CheckSecrets(const meta::Object& account, const Attributes& attributes) {
    if (!service_account::EnforcesMountableSecrets(account)) return {};
    const std::string error = service_account::FindForbiddenSecret(account, *attributes.object);
    if (!error.empty()) return Forbidden(attributes, error);
    return {};
  }

  /// Returns the account. Waits a short time for the account "default", because clients create pods as soon as they
  /// have created the namespace.
  Task<meta::Result<ObjectPtr>> Find(meta::RequestContext ctx, const Attributes& attributes, std::string name) {
    const meta::Gvr resource{"", "v1", "serviceaccounts"};
    const auto failed = [&](std::string_view why) {
      return Forbidden(attributes, fmt::format("error looking up service account {}/{}: {}", attributes.ns, name, why));
    };
    if (!objects_) co_return failed("service accounts cannot be read here");
    if (const std::string error = InvalidNameError(name); !error.empty()) co_return failed(error);
    meta::Result<ObjectPtr> found = co_await objects_->Get(ctx, resource, attributes.ns, name, Read::kCachedElseNewest);
    if (found || !found.error().Is(meta::Reason::kNotFound)) {
      if (!found) co_return failed(found.error().Message());
      co_return found;
    }
    const int attempts = name == kDefaultAccount ? kDefaultAttempts : 1;
    const auto pause = std::chrono::milliseconds(100 + meta::SecureRandomBits() % 100);
    for (int attempt = 1; attempt < attempts && !ctx.Abandoned(); ++attempt) {
      co_await SleepFor(pause);
      found = co_await objects_->Get(ctx, resource, attributes.ns, name, Read::kNewest);
      if (found) co_return found;
      if (!found.error().Is(meta::Reason::kNotFound)) co_return failed(found.error().Message());
    }
    co_return failed(meta::NotFound(meta::GroupResource{"", "serviceaccount"}, name).Message());
  }

  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeServiceAccount(const PluginInputs& inputs) {
  return std::make_unique<ServiceAccount>(inputs.objects);
}

}  // namespace apimesh::admission
