#include "lib/service/egress/egress.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/text/text.h"
#include "lib/http/proxy/connect_proxy.h"
#include "lib/net/tls/tls.h"
#include "lib/service/egress/egress_config.h"

namespace apimesh::service {
namespace {

/// Fails if the certificate files cannot be used. They are read again for every connection.
void CheckTls(std::string_view network, const net::ClientTlsOptions& tls, const Clock& clock) {
  std::string error;
  if (!net::ClientTls(tls, clock).NewSession("localhost", error)) {
    throw std::invalid_argument(fmt::format(
        "failed to setup egress selector: failed to create dialer for egressSelection \"{}\": {}", network, error));
  }
}

std::shared_ptr<http::Dialer> MakeDialer(const EgressConnection& connection, Metrics& metrics, const Clock& clock) {
  const Labels labels{{"protocol", "http_connect"}, {"transport", connection.url.empty() ? "uds" : "tcp"}};
  http::ConnectProxyOptions options{.clock = clock};
  options.url = connection.url;
  options.socket_path = connection.socket_path;
  options.tls = connection.tls;
  options.started = [&metrics, labels] {
    metrics
        .GetCounter("apiserver_egress_dialer_dial_start_total", "Connections that were requested from a proxy.", labels)
        .Add();
  };
  options.failed = [&metrics, labels](const char* stage) {
    Labels all = labels;
    all.emplace("stage", stage);
    metrics
        .GetCounter("apiserver_egress_dialer_dial_failure_count",
                    "Connections that failed, by stage: to the proxy (connect) or from there (proxy).", all)
        .Add();
  };
  options.connected = [&metrics, labels](Duration taken) {
    metrics
        .GetHistogram("apiserver_egress_dialer_dial_duration_seconds", "Time to open a connection through a proxy.",
                      {0.005, 0.025, 0.1, 0.5, 2.5, 12.5}, labels)
        .Observe(std::chrono::duration<double>(taken).count());
  };
  return http::NewConnectProxy(std::move(options));
}

}  // namespace

void UseEgressFile(const std::string& path, Metrics& metrics, const Clock& clock) {
  if (path.empty()) return;
  const std::optional<std::string> text = ReadFile(path);
  if (!text) {
    throw std::invalid_argument(fmt::format(
        "failed to read egress selector config: unable to read egress selector configuration from \"{}\" [open {}: {}]",
        path, path, LowerCase(std::strerror(errno))));
  }
  std::map<http::Network, std::shared_ptr<http::Dialer>> dialers;
  for (const auto& [network, connection] : ParseEgressConfig(*text)) {
    dialers[network] = nullptr;
    if (connection.protocol == "Direct") continue;
    if (connection.url.starts_with("https://")) CheckTls(NameOf(network), connection.tls, clock);
    try {
      dialers[network] = MakeDialer(connection, metrics, clock);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("failed to setup egress selector: {}", error.what()));
    }
    log::Info("connections to the network {} are made through the proxy at {}", NameOf(network),
              connection.url.empty() ? connection.socket_path : connection.url);
  }
  http::SetDialers(std::move(dialers));
}

}  // namespace apimesh::service
