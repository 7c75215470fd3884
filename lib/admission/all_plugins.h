#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/chain.h"
#include "lib/admission/objects/objects.h"
#include "lib/admission/plugins/default_toleration_seconds/flags.h"
#include "lib/base/clock.h"
#include "lib/features/feature_gates.h"
#include "lib/flags/binder.h"
#include "lib/http/client.h"
#include "lib/service/auth_client.h"
#include "lib/service/metrics.h"
#include "lib/service/service_resolver.h"

namespace apimesh::admission {

/// Sends a request to the API of core-api as system:apiserver. The body is JSON.
using SendRequest =
    std::function<Task<meta::Result<meta::Object>>(std::string method, std::string path, std::string body)>;

/// Everything that a plugin may use besides the request. All servers create it in the same way (server_inputs.h), so a
/// plugin behaves the same in each of them. Tests pass fakes. Add a member here if a plugin needs something else.
struct PluginInputs {
  /// Reads objects of any resource. A plugin may subscribe in its constructor, but must not read before the server
  /// runs. If this is nullptr, plugins that need an object reject the request.
  ObjectsPtr objects;
  /// Asks the authorizer. If this is nullptr, plugins that need a decision reject the request.
  service::AuthClientPtr auth;
  /// The plugin's section of --admission-control-config-file as YAML or JSON text, or nullopt if it has none. Only
  /// plugins that are marked with kReadsSection in all_plugins.cc receive a section.
  std::optional<std::string> section = std::nullopt;
  /// Creates the HTTP client of a webhook.
  std::function<std::shared_ptr<http::Client>(http::ClientOptions options)> http_client = &http::NewClient;
  /// Returns the address for a request to a Service. If this is empty, services cannot be reached.
  std::function<Task<meta::Result<std::string>>(service::ServiceReference service)> resolve_service = {};
  /// Writes objects, where a plugin has to. If this is empty, plugins that need it reject the request.
  SendRequest send = {};
  TolerationFlags tolerations = {};
  features::FeatureGates features = {};
  const Clock* clock = nullptr;  // set in every server; a test sets it if the plugin or the metrics need it
  /// Runs work on large documents, which must not hold up other requests. If this is empty, the thread of the request
  /// does such work itself.
  boost::asio::any_io_executor large_requests = {};
  /// Registers the plugin's own metrics. The chain counts durations and rejections. May be nullptr.
  service::Metrics* metrics = nullptr;
};

/// Plugin names as in --enable-admission-plugins and --disable-admission-plugins. `only` has the names of the
/// deprecated flag --admission-control: if it is not empty, no other plugin runs.
struct PluginChoice {
  std::vector<std::string> enable;
  std::vector<std::string> disable;
  std::vector<std::string> only = {};
  std::string config_file = "";  // --admission-control-config-file; empty: none

  void Bind(flags::Binder& flags);
};

/// Creates the chain of all selected plugins in run order. Throws std::invalid_argument
/// - for an unknown name,
/// - for a configuration file that cannot be read, or that has a section for a known plugin that does not read one.
ChainPtr MakeChain(const PluginInputs& inputs, const PluginChoice& choice);

/// Returns all names in run order.
std::vector<std::string> AllPluginNames();

}  // namespace apimesh::admission
