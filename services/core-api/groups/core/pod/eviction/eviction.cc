#include "services/core-api/groups/core/pod/eviction/eviction.h"

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/codec/codec.h"
#include "lib/meta/selectors/selector.h"
#include "lib/schema/builtin.h"
#include "services/core-api/groups/core/pod/conditions.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Store = storage::Store;

constexpr int kTries = 20;  // attempts of a write that fails with a conflict

struct Eviction {
  storage::StorePtr pods;
  SendObject send;
  const Clock* clock = nullptr;
  meta::RequestContext ctx;
  std::string ns, name;
  json::object delete_options;  // as sent by the client
  bool dry_run = false;
  std::string budget;  // name of the budget that selects the pod
};
using EvictionPtr = std::shared_ptr<Eviction>;

json::object StatusOf(int code) {
  return {
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()}, {"status", "Success"}, {"code", code}};
}

bool AsksForVersion(const json::object& options) {
  return meta::Find(options, "preconditions", "resourceVersion") != nullptr;
}

json::object AtVersion(json::object options, std::string_view version) {
  meta::MakeObject(options, "preconditions")["resourceVersion"] = version;
  return options;
}

/// Terminated, terminating and pending pods can be deleted without charging a budget.
bool NeedsNoBudget(const meta::Object& pod) {
  const std::string_view phase = meta::FindString(pod.Root(), "status", "phase");
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" || !pod.DeletionTimestamp().empty();
}

meta::Labels LabelsOf(const meta::Object& pod) {
  meta::Labels labels;
  const json::value* found = meta::FindField(pod.Metadata(), "labels");
  if (!found || !found->is_object()) return labels;
  for (const auto& [key, text] : found->get_object()) {
    if (text.is_string()) labels.emplace_back(key, std::string_view(text.get_string()));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

Task<meta::Result<meta::Object>> ReadPod(EvictionPtr eviction) {
  ASSIGN_OR_CO_RETURN(const storage::Key key, storage::KeyFor(true, eviction->ns, eviction->name));
  const storage::GetOptions newest;
  ASSIGN_OR_CO_RETURN(const storage::EntryPtr entry, co_await eviction->pods->Get(eviction->ctx, key, newest));
  ASSIGN_OR_CO_RETURN(const json::value value, codec::ParseJson(entry->Json().View(), meta::NewArena()));
  co_return meta::Object(value.get_object());
}

meta::Result<> CheckPreconditions(const json::object& options, const meta::Object& pod) {
  const std::string_view uid = meta::FindString(options, "preconditions", "uid");
  if (!uid.empty() && uid != pod.Uid()) {
    return meta::Conflict(
        {"", "Pod"}, pod.Name(),
        fmt::format(
            "the UID in the precondition ({}) does not match the UID in record ({}). The object might have been "
            "deleted and then recreated",
            uid, pod.Uid()));
  }
  const std::string_view version = meta::FindString(options, "preconditions", "resourceVersion");
  if (!version.empty() && version != pod.ResourceVersion()) {
    return meta::Conflict(
        {"", "Pod"}, pod.Name(),
        fmt::format(
            "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record ({}). The "
            "object might have been modified",
            version, pod.ResourceVersion()));
  }
  return {};
}

Task<meta::Result<std::optional<Store::Update>>> Announce(std::shared_ptr<const json::object> options,
                                                          const Clock& clock, const meta::Object* current) {
  CO_RETURN_IF_ERROR(CheckPreconditions(*options, *current));
  meta::Object pod = *current;
  SetTrueCondition(pod, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting", clock.Now());
  CO_RETURN_IF_ERROR(codec::Normalise(pod.Root(), *schema::Builtin().FindKind({"", "v1", "Pod"}), nullptr));
  co_return std::optional<Store::Update>(Store::Update{std::move(pod), {}});
}

/// Sets the condition DisruptionTarget of the pod, then deletes the pod.
Task<meta::Result<>> DeletePod(EvictionPtr eviction, json::object options) {
  if (!eviction->dry_run) {
    ASSIGN_OR_CO_RETURN(const storage::Key key, storage::KeyFor(true, eviction->ns, eviction->name));
    const auto shared = std::make_shared<const json::object>(options);
    const Store::UpdateFn update = [shared, clock = eviction->clock](const meta::Object* current) {
      return Announce(shared, *clock, current);
    };
    const storage::Preconditions none;
    const meta::Result<Store::UpdateResult> updated =
        co_await eviction->pods->GuaranteedUpdate(eviction->ctx, key, none, false, update);
    if (!updated) co_return updated.error();
    if (AsksForVersion(options)) options = AtVersion(std::move(options), std::to_string(updated->entry->ModRevision()));
  } else {
    options["dryRun"] = json::array{"All"};
  }
  const std::string path = fmt::format("/api/v1/namespaces/{}/pods/{}", eviction->ns, eviction->name);
  const meta::Result<meta::Object> gone = co_await eviction->send("DELETE", path, codec::WriteJson(options));
  if (!gone) co_return gone.error();
  co_return meta::Result<>();
}

/// Returns the budgets that select the pod.
Task<meta::Result<std::vector<meta::Object>>> BudgetsOf(EvictionPtr eviction, meta::Labels labels) {
  const std::string path = fmt::format("/apis/policy/v1/namespaces/{}/poddisruptionbudgets", eviction->ns);
  ASSIGN_OR_CO_RETURN(const meta::Object list, co_await eviction->send("GET", path, ""));
  std::vector<meta::Object> budgets;
  for (const json::object& budget : Objects(meta::FindField(list.Root(), "items"))) {
    const json::value* wanted = meta::Find(budget, "spec", "selector");
    if (!wanted || !wanted->is_object()) continue;
    const meta::Result<meta::LabelSelector> selector = meta::LabelSelector::FromObject(wanted->get_object());
    if (selector && selector->Matches(labels)) budgets.emplace_back(budget);
  }
  co_return budgets;
}

/// Charges a disruption to the budget. Writes that conflict with other writers are repeated.
Task<meta::Result<>> ChargeBudget(EvictionPtr eviction, meta::Object budget) {
  const std::string path =
      fmt::format("/apis/policy/v1/namespaces/{}/poddisruptionbudgets/{}", eviction->ns, budget.Name());
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_CO_RETURN(const meta::Object charged, TakeDisruption(budget, eviction->name, eviction->clock->Now()));
    if (eviction->dry_run) co_return meta::Result<>();
    const meta::Result<meta::Object> written =
        co_await eviction->send("PUT", path + "/status", codec::WriteJson(charged.Root()));
    if (written) co_return meta::Result<>();
    if (!written.error().Is(meta::Reason::kConflict)) co_return written.error();
    if (attempt == kTries) {
      co_return meta::Timeout(
          fmt::format("couldn't update PodDisruptionBudget {} due to conflicts", meta::Quoted(eviction->budget)), 10);
    }
    ASSIGN_OR_CO_RETURN(budget, co_await eviction->send("GET", path, ""));
  }
}

/// Whether an unready pod can be evicted without charging the budget, because enough other pods are healthy or the
/// policy is AlwaysAllow.
bool GoesUncharged(const meta::Object& pod, const meta::Object& budget) {
  if (HasTrueCondition(pod, "Ready")) return false;
  if (meta::FindString(budget.Root(), "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  const auto number = [&budget](std::string_view field) {
    const json::value* found = meta::Find(budget.Root(), "status", field);
    return found && found->is_int64() ? found->get_int64() : 0;
  };
  return number("desiredHealthy") > 0 && number("currentHealthy") >= number("desiredHealthy");
}

/// Deletes a pod that no budget protects. Returns nullopt if budgets protect the pod.
Task<meta::Result<std::optional<json::object>>> EvictUnprotected(EvictionPtr eviction,
                                                                 std::shared_ptr<meta::Object> pod) {
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_CO_RETURN(*pod, co_await ReadPod(eviction));
    if (!NeedsNoBudget(*pod)) co_return std::optional<json::object>();
    json::object options = eviction->delete_options;
    const bool pending =
        meta::FindString(pod->Root(), "status", "phase") == "Pending" && pod->DeletionTimestamp().empty();
    const bool own_version = AsksForVersion(options);
    // A pending pod could become ready in the meantime and would then be protected by budgets, so the delete is bound
    // to the version that was read.
    if (pending && !own_version) options = AtVersion(std::move(options), pod->ResourceVersion());
    const meta::Result<> gone = co_await DeletePod(eviction, std::move(options));
    if (gone) co_return std::optional<json::object>(StatusOf(201));
    if (!gone.error().Is(meta::Reason::kConflict) || own_version || attempt == kTries) co_return gone.error();
  }
}

Task<meta::Result<meta::Object>> Evict(EvictionPtr eviction) {
  const auto pod = std::make_shared<meta::Object>();
  ASSIGN_OR_CO_RETURN(std::optional<json::object> done, co_await EvictUnprotected(eviction, pod));
  if (done) co_return meta::Object(std::move(*done));
  ASSIGN_OR_CO_RETURN(const std::vector<meta::Object> budgets, co_await BudgetsOf(eviction, LabelsOf(*pod)));
  if (budgets.size() > 1) {
    co_return meta::Object(json::object{
        {"kind", "Status"},
        {"apiVersion", "v1"},
        {"metadata", json::object()},
        {"status", "Failure"},
        {"message", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."},
        {"code", 500}});
  }
  json::object options = eviction->delete_options;
  bool uncharged = false;
  if (!budgets.empty()) {
    eviction->budget = std::string(budgets[0].Name());
    uncharged = GoesUncharged(*pod, budgets[0]);
    if (!uncharged) CO_RETURN_IF_ERROR(co_await ChargeBudget(eviction, budgets[0]));
  }
  const bool own_version = AsksForVersion(options);
  if (uncharged) options = AtVersion(std::move(options), pod->ResourceVersion());
  const meta::Result<> gone = co_await DeletePod(eviction, std::move(options));
  if (!gone && gone.error().Is(meta::Reason::kConflict) && uncharged && !own_version) {
    meta::ApiError::Data data =
        meta::TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10).Get();
    data.causes.push_back(
        {"DisruptionBudget",
         fmt::format("The disruption budget {} is still being processed by the server.", eviction->budget), ""});
    co_return meta::ApiError(std::move(data));
  }
  if (!gone) co_return gone.error();
  co_return meta::Object(StatusOf(201));
}

Task<meta::Result<meta::Object>> Begin(storage::StorePtr pods, SendObject send, const Clock* clock,
                                       meta::RequestContext ctx, std::string name, meta::Object body, bool dry_run) {
  if (name != body.Name()) co_return meta::BadRequest("name in URL does not match name in Eviction object");
  const auto eviction = std::make_shared<Eviction>();
  eviction->pods = std::move(pods);
  eviction->send = std::move(send);
  eviction->clock = clock;
  eviction->ns = ctx.Info().ns;
  eviction->name = std::move(name);
  eviction->ctx = std::move(ctx);
  const json::value* options = meta::FindField(body.Root(), "deleteOptions");
  if (options && options->is_object()) eviction->delete_options = options->get_object();
  if (const json::value* ignore =
          meta::FindField(eviction->delete_options, "ignoreStoreReadErrorWithClusterBreakingPotential");
      ignore && *ignore == true) {
    co_return meta::Invalid(meta::GroupKind{"policy", "Eviction"}, eviction->name,
                            {meta::Invalid("deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential", "true",
                                           "can not be set for pod eviction, try after removing the option")});
  }
  const json::value* own_dry_run = meta::FindField(eviction->delete_options, "dryRun");
  eviction->dry_run = dry_run || (own_dry_run && own_dry_run->is_array() && !own_dry_run->get_array().empty());
  co_return co_await Evict(eviction);
}

}  // namespace

registry::Action EvictionAction(storage::StorePtr pods, SendObject send, const Clock* clock) {
  return [pods = std::move(pods), send = std::move(send), clock](meta::RequestContext ctx, std::string name,
                                                                 meta::Object body, bool dry_run) {
    return Begin(pods, send, clock, std::move(ctx), std::move(name), std::move(body), dry_run);
  };
}

}  // namespace apimesh::core_api
