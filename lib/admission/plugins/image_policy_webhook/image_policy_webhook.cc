#include "lib/admission/plugins/image_policy_webhook/image_policy_webhook.h"

#include <filesystem>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/image_policy_webhook/settings.h"
#include "lib/base/async/wakeup.h"
#include "lib/base/expiring_cache.h"
#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/names.h"
#include "lib/service/webhook/kubeconfig.h"

namespace apimesh::admission {
namespace {

using image_policy::Settings;

constexpr std::string_view kAuditPrefix = "imagepolicywebhook.image-policy.k8s.io/";
constexpr std::size_t kCacheBytes = 4 << 20;
constexpr std::size_t kMaxResponseBytes = 4 << 20;
constexpr int kTries = 5;
constexpr Duration kTimeout = std::chrono::seconds(30);

/// The status of an ImageReview.
struct Verdict {
  bool allowed = false;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> audit_annotations;
};

json::object SpecOfReview(const Attributes& attributes) {
  json::array containers;
  const json::object& spec = SpecOf(*attributes.object);
  const auto add = [&containers](const json::object& container) {
    json::object& added = containers.emplace_back(json::object()).get_object();
    if (const std::string_view image = meta::FindString(container, "image"); !image.empty()) added["image"] = image;
  };
  if (attributes.subresource.empty()) {
    ForEach(spec, "containers", add);
    ForEach(spec, "initContainers", add);
  } else {
    ForEach(spec, "ephemeralContainers", add);
  }
  std::vector<std::pair<std::string_view, const json::value*>> annotations;
  for (const auto& member : ObjectAt(attributes.object->Metadata(), "annotations")) {
    if (std::string_view(member.key()).find(".image-policy.k8s.io/") != std::string_view::npos)
      annotations.emplace_back(member.key(), &member.value());
  }
  std::sort(annotations.begin(), annotations.end());
  json::object made;
  if (!containers.empty()) made["containers"] = std::move(containers);
  if (!annotations.empty()) {
    json::object& chosen = made["annotations"].emplace_object();
    for (const auto& [key, value] : annotations) chosen.emplace(key, *value);
  }
  if (!attributes.ns.empty()) made["namespace"] = attributes.ns;
  return made;
}

meta::Result<Verdict> ReadVerdict(const std::string& body) {
  const meta::Result<json::value> document = codec::ParseJson(body, meta::NewArena());
  if (!document)
    return meta::InternalError("couldn't get version/kind; json parse error: " + document.error().Message());
  if (!document->is_object()) return meta::InternalError("the webhook did not answer with an object");
  const json::object& status = ObjectAt(document->get_object(), "status");
  Verdict verdict{BoolAt(status, "allowed").value_or(false), std::string(meta::FindString(status, "reason")), {}};
  for (const auto& member : ObjectAt(status, "auditAnnotations")) {
    if (member.value().is_string())
      verdict.audit_annotations.emplace_back(member.key(), std::string_view(member.value().get_string()));
  }
  return verdict;
}

Digest DigestOf(const std::string& spec) {
  KeyedHash hash;
  hash.Add(spec);
  return hash.Finish();
}

class ImagePolicyWebhook final : public Plugin {
 public:
  ImagePolicyWebhook(const PluginInputs& inputs, Settings settings, service::WebhookEndpoint endpoint)
      : settings_(std::move(settings)), clock_(*inputs.clock), client_(NewClient(inputs, std::move(endpoint))) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && IsResource(attributes, "", "pods") && attributes.object &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate) &&
           (attributes.subresource.empty() || attributes.subresource == "ephemeralcontainers");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const std::string spec = codec::WriteJson(SpecOfReview(attributes));
    std::optional<Verdict> verdict = Cached(spec);
    if (!verdict) {
      meta::Result<Verdict> asked = co_await Ask(ctx, spec);
      if (!asked) co_return Failed(ctx, attributes, asked.error().Message());
      verdict = std::move(*asked);
      Remember(spec, *verdict);
    }
    for (const auto& [key, value] : verdict->audit_annotations) {
      const std::string qualified = fmt::format("{}{}", kAuditPrefix, key);
      if (meta::CheckQualifiedName(qualified).empty()) ctx.AddAuditAnnotation(qualified, value);
    }
    if (verdict->allowed) co_return meta::Result<>();
    co_return Forbidden(attributes, verdict->reason.empty()
                                        ? "one or more images rejected by webhook backend"
                                        : "image policy webhook backend denied one or more images: " + verdict->reason);
  }

 private:
  static std::unique_ptr<service::WebhookClient> NewClient(const PluginInputs& inputs,
                                                           service::WebhookEndpoint endpoint) {
    service::WebhookConfig config;
    config.url = endpoint.url;
    config.max_response_bytes = kMaxResponseBytes;
    config.network_of_url = http::Network::kDirect;  // as in kube-apiserver
    if (!endpoint.authorization.empty()) config.credentials.headers = {{"authorization", endpoint.authorization}};
    service::WebhookSources sources{.clock = *inputs.clock, .resolve = inputs.resolve_service};
    sources.http_client = [make = inputs.http_client, tls = endpoint.tls](http::ClientOptions options) {
      options.tls = tls;
      return make(std::move(options));
    };
    return std::make_unique<service::WebhookClient>(std::move(config), std::move(sources));
  }

  std::optional<Verdict> Cached(const std::string& spec) {
    const std::lock_guard lock(mutex_);
    const Verdict* known = cache_.Find(DigestOf(spec), clock_.Steady());
    return known ? std::optional<Verdict>(*known) : std::nullopt;
  }

  void Remember(const std::string& spec, const Verdict& verdict) {
    const Duration ttl = verdict.allowed ? settings_.allow_ttl : settings_.deny_ttl;
    std::size_t bytes = verdict.reason.size();
    for (const auto& [key, value] : verdict.audit_annotations) bytes += key.size() + value.size();
    const std::lock_guard lock(mutex_);
    cache_.Put(DigestOf(spec), verdict, bytes, clock_.Steady() + ttl, clock_.Steady());
  }

  /// Calls the webhook, and again after a pause if its server is busy or has an error.
  Task<meta::Result<Verdict>> Ask(meta::RequestContext ctx, std::string spec) const {
    const std::string body = fmt::format(
        R"({{"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{{}},"spec":{},"status":{{"allowed":false}}}})",
        spec);
    Duration pause = settings_.retry_backoff;
    for (int tries = 1;; ++tries) {
      const SteadyTime deadline = std::min(clock_.Steady() + kTimeout, ctx.Deadline());
      const service::WebhookResponse response = co_await client_->PostUntil(body + "\n", deadline);
      if (response.error.empty()) co_return ReadVerdict(response.body);
      const bool busy = response.code == 429 || response.code == 500 || response.code == 504;
      if (!busy || tries == kTries || clock_.Steady() + pause >= ctx.Deadline() || ctx.Abandoned())
        co_return meta::InternalError(response.error);
      co_await SleepFor(pause);
      pause = pause * 3 / 2;
    }
  }

  meta::Result<> Failed(const meta::RequestContext& ctx, const Attributes& attributes, std::string_view message) const {
    constexpr std::string_view kHead = "Internal error occurred: ";
    if (message.starts_with(kHead)) message.remove_prefix(kHead.size());
    if (!settings_.default_allow) return Forbidden(attributes, message);
    log::Warning("The image policy webhook cannot be called; the pod is allowed: {}", message);
    ctx.AddAuditAnnotation(fmt::format("{}failed-open", kAuditPrefix), "true");
    return {};
  }

  const Settings settings_;
  const Clock& clock_;
  const std::unique_ptr<service::WebhookClient> client_;
  std::mutex mutex_;
  ExpiringCache<Verdict> cache_{kCacheBytes};  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Plugin> MakeImagePolicyWebhook(const PluginInputs& inputs) {
  Settings settings = image_policy::ReadSettings(inputs.section);
  if (!std::filesystem::exists(settings.kubeconfig))
    throw std::invalid_argument(fmt::format("stat {}: no such file or directory", settings.kubeconfig));
  meta::Result<service::WebhookEndpoint> endpoint = service::ReadKubeconfig(settings.kubeconfig);
  if (!endpoint) throw std::invalid_argument(endpoint.error().Message());
  return std::make_unique<ImagePolicyWebhook>(inputs, std::move(settings), std::move(*endpoint));
}

}  // namespace apimesh::admission
