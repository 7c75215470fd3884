#include "services/extensions-api/conversion_webhook/converter.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/meta/uuid.h"
#include "services/extensions-api/conversion_webhook/review.h"

namespace apimesh::extensions_api {
namespace {

using Objects = std::vector<meta::Object>;

constexpr std::chrono::seconds kTimeout{30};
constexpr std::size_t kMaxObjects = 256;
constexpr std::size_t kMaxBytes = 1 << 20;

std::vector<double> CrdBuckets() {
  std::vector<double> buckets;
  for (double limit = 0.001; buckets.size() < 15; limit *= 2) buckets.push_back(limit);
  return buckets;
}

}  // namespace

WebhookConverter::WebhookConverter(Options options, service::WebhookSources sources, service::Metrics* metrics)
    : options_(std::move(options)),
      clock_(sources.clock),
      metrics_(metrics),
      client_(options_.webhook, std::move(sources)) {}

void WebhookConverter::Observe(const meta::Object& first, const meta::Gvk& desired, std::string_view failure,
                               Duration took) const {
  if (!metrics_) return;
  const double seconds = std::chrono::duration<double>(took).count();
  const service::Labels labels = {{"result", failure.empty() ? "success" : "failure"},
                                  {"failure_type", std::string(failure)}};
  metrics_
      ->GetCounter("apiserver_conversion_webhook_request_total",
                   "Conversion requests that were sent to webhooks, by result and type of failure", labels)
      .Add();
  metrics_
      ->GetHistogram("apiserver_conversion_webhook_duration_seconds", "Duration of requests to conversion webhooks",
                     {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60}, labels)
      .Observe(seconds);
  metrics_
      ->GetHistogram("apiserver_crd_conversion_webhook_duration_seconds",
                     "Duration of conversions by webhooks, by CustomResourceDefinition and version", CrdBuckets(),
                     {{"crd_name", options_.crd_name},
                      {"from_version", first.GetGvk().version},
                      {"to_version", desired.version},
                      {"succeeded", failure.empty() ? "true" : "false"}})
      .Observe(seconds);
}

Task<meta::Result<Objects>> WebhookConverter::Call(Objects objects, std::vector<std::string> texts, meta::Gvk desired,
                                                   bool& call_failed) const {
  const std::string_view version = SupportedReviewVersion(options_.review_versions);
  if (version.empty()) co_return meta::PlainError("no supported conversion review versions");
  const SteadyTime begin = clock_.Steady();
  const std::string uid = meta::NewUuid();
  std::string review = WriteReview(version, uid, desired.ApiVersion(), texts);
  texts.clear();
  const http::ClientResult<std::string> response = co_await client_.Post(std::move(review), kTimeout);
  call_failed = !response;
  std::variant<Objects, ConversionFailure> read;
  if (response) {
    read = ReadReview(version, uid, *response, objects, desired);
  } else {
    read = ConversionFailure{kCallFailure,
                             fmt::format("conversion webhook for {}, Kind={} failed: {}", objects.front().ApiVersion(),
                                         objects.front().Kind(), response.error().message)};
  }
  const ConversionFailure* failure = std::get_if<ConversionFailure>(&read);
  Observe(objects.front(), desired, failure ? failure->type : std::string_view(), clock_.Steady() - begin);
  if (failure) co_return meta::PlainError(failure->message);
  co_return std::get<Objects>(std::move(read));
}

Task<meta::Result<Objects>> WebhookConverter::Convert(Objects objects, meta::Gvk desired) const {
  std::vector<std::size_t> positions;  // of the objects that have another version
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].ApiVersion() != desired.ApiVersion()) positions.push_back(i);
  }
  std::size_t limit = kMaxObjects;
  for (std::size_t next = 0; next < positions.size();) {
    Objects batch;
    std::vector<std::string> texts;
    std::size_t bytes = 0;
    for (std::size_t n = next; n < positions.size() && batch.size() < limit && bytes < kMaxBytes; ++n) {
      batch.push_back(objects[positions[n]]);
      texts.push_back(codec::WriteJson(batch.back().Root()));
      bytes += texts.back().size();
    }
    const std::size_t count = batch.size();
    bool call_failed = false;
    meta::Result<Objects> converted = co_await Call(std::move(batch), std::move(texts), desired, call_failed);
    if (!converted && count > 1 && !call_failed) {
      limit = 1;
      continue;
    }
    if (!converted) co_return converted.error();
    for (std::size_t n = 0; n < count; ++n) objects[positions[next + n]] = std::move((*converted)[n]);
    next += count;
  }
  co_return objects;
}

}  // namespace apimesh::extensions_api
