#include "services/aggregator/audit/backends/webhook_backend.h"

#include <atomic>
#include <random>
#include <stdexcept>

#include "lib/base/async/wakeup.h"
#include "lib/service/webhook/kubeconfig.h"

namespace apimesh::aggregator {
namespace {

using namespace std::chrono_literals;

constexpr int kTries = 5;
constexpr double kFactor = 1.5, kJitter = 0.2;
constexpr auto kTimeout = 30s;
constexpr Duration kMaxPauseAtShutdown = 1s, kPauseStep = 100ms;

service::WebhookClient NewClient(const service::WebhookEndpoint& endpoint, const Clock& clock) {
  service::WebhookConfig config;
  config.url = endpoint.url;
  if (!endpoint.authorization.empty()) config.credentials.headers.emplace_back("authorization", endpoint.authorization);
  service::WebhookSources sources{.clock = clock, .resolve = nullptr};
  sources.http_client = [tls = endpoint.tls](http::ClientOptions options) -> std::shared_ptr<http::Client> {
    options.tls = tls;
    return http::NewClient(std::move(options));
  };
  return service::WebhookClient(std::move(config), std::move(sources));
}

class WebhookBackend final : public AuditBackend {
 public:
  WebhookBackend(const service::WebhookEndpoint& endpoint, Duration initial_backoff,
                 std::shared_ptr<AuditMetrics> metrics, const Clock& clock)
      : initial_backoff_(initial_backoff),
        metrics_(std::move(metrics)),
        clock_(clock),
        client_(NewClient(endpoint, clock)) {}

  Task<bool> Process(AuditEvents events) override {
    double pause = std::chrono::duration<double>(initial_backoff_).count();
    for (int attempt = 1;; ++attempt) {
      // The body is made for each attempt, because sending consumes it and most batches are sent once.
      const service::WebhookResponse response =
          co_await client_.PostUntil(EventListOf(events), clock_.Steady() + kTimeout);
      if (response.Accepted()) co_return true;
      if (attempt == kTries) {
        metrics_->Failed("webhook", response.error, events.size());
        co_return false;
      }
      co_await Pause(pause);
      pause *= kFactor;
    }
  }
  void BeginShutdown() override { hurried_ = true; }

 private:
  Task<> Pause(double seconds) {
    thread_local std::minstd_rand random{std::random_device()()};
    const double jitter = 1 + kJitter * std::uniform_real_distribution<double>(0, 1)(random);
    const auto pause = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds * jitter));
    const SteadyTime began = clock_.Steady();
    for (;;) {
      const Duration passed = clock_.Steady() - began, whole = hurried_ ? std::min(pause, kMaxPauseAtShutdown) : pause;
      if (passed >= whole) co_return;
      co_await SleepFor(std::min<Duration>(whole - passed, kPauseStep));
    }
  }

  const Duration initial_backoff_;
  const std::shared_ptr<AuditMetrics> metrics_;
  const Clock& clock_;
  const service::WebhookClient client_;
  std::atomic<bool> hurried_ = false;
};

}  // namespace

std::string EventListOf(const AuditEvents& events) {
  std::string body = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)";
  for (const AuditEventPtr& event : events) {
    if (body.back() != '[') body += ',';
    event->AppendItem(body);
  }
  return body + "]}\n";
}

AuditBackendPtr NewWebhookBackend(const AuditWebhookOptions& options, std::shared_ptr<AuditMetrics> metrics,
                                  const Clock& clock) {
  const auto endpoint = service::ReadKubeconfig(options.config_file);
  if (!endpoint) throw std::runtime_error("initializing audit webhook: " + endpoint.error().Message());
  return std::make_shared<WebhookBackend>(*endpoint, options.initial_backoff, std::move(metrics), clock);
}

}  // namespace apimesh::aggregator
