#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/service/metrics.h"
#include "lib/service/webhook/webhook_client.h"

namespace apimesh::extensions_api {

class WebhookConverter;
using WebhookConverterPtr = std::shared_ptr<const WebhookConverter>;

/// Converts objects of one definition by calling its conversion webhook. Thread-safe.
class WebhookConverter {
 public:
  struct Options {
    std::string crd_name;
    service::WebhookConfig webhook;
    std::vector<std::string> review_versions;  // conversionReviewVersions
  };
  /// `metrics` may be nullptr.
  WebhookConverter(Options options, service::WebhookSources sources, service::Metrics* metrics);

  /// Converts the objects to another version, in requests of bounded size. The result has the same order. Objects that
  /// have the version already are returned unchanged. A request with several objects that fails is repeated object by
  /// object, so that the error is that of the first object that cannot be converted, as in kube-apiserver.
  Task<meta::Result<std::vector<meta::Object>>> Convert(std::vector<meta::Object> objects, meta::Gvk desired) const;

 private:
  /// Sends one request. `texts` are the objects as JSON.
  Task<meta::Result<std::vector<meta::Object>>> Call(std::vector<meta::Object> objects, std::vector<std::string> texts,
                                                     meta::Gvk desired, bool& call_failed) const;
  void Observe(const meta::Object& first, const meta::Gvk& desired, std::string_view failure, Duration took) const;

  const Options options_;
  const Clock& clock_;
  service::Metrics* const metrics_;
  const service::WebhookClient client_;
};

}  // namespace apimesh::extensions_api
