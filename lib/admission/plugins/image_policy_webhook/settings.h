#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/base/clock.h"

namespace apimesh::admission::image_policy {

/// The section of the plugin: `imagePolicy: {kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow}`.
struct Settings {
  std::string kubeconfig;
  Duration allow_ttl = std::chrono::minutes(5);  // 0: answers are not cached
  Duration deny_ttl = std::chrono::seconds(30);
  Duration retry_backoff = std::chrono::milliseconds(500);
  bool default_allow = false;  // whether pods are admitted if the webhook cannot be called
};
/// Throws std::invalid_argument with the message of kube-apiserver.
Settings ReadSettings(const std::optional<std::string>& section);

}  // namespace apimesh::admission::image_policy
