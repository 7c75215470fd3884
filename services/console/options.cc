#include "services/console/options.h"

#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/ip_address.h"
#include "lib/service/process_flags.h"

namespace apimesh::console {

void Options::Bind(flags::Binder& flags) {
  service::BindProcessFlags(flags, common);
  flags.Bind("console-address", address);
  flags.Bind("console-port", port);
  flags.Bind("console-hosts", hosts);
  flags.Bind("console-tls-cert-file", tls_cert_file);
  flags.Bind("console-tls-key-file", tls_key_file);
  flags.Bind("console-files", files);
  flags.Require("console-files");
  flags.Bind("console-kubeconfig", kubeconfig);
  flags.Require("console-kubeconfig");
  flags.Bind("console-login-folder", login_folder);
  flags.Bind("console-session-lifetime", session_lifetime);
}

void Check(const Options& options) {
  if (options.tls_cert_file.empty() != options.tls_key_file.empty())
    throw std::runtime_error("--console-tls-cert-file and --console-tls-key-file must be used together");
  if (options.session_lifetime.count() <= 0) throw std::runtime_error("--console-session-lifetime must be positive");
  const std::optional<IpAddress> address = ParseIp(options.address);
  if (!address) throw std::runtime_error(fmt::format("--console-address: \"{}\" is no IP address", options.address));
  if (!options.Tls() && !address->is_loopback()) {
    throw std::runtime_error(
        fmt::format("--console-address={} can be reached by other machines: sessions must be encrypted, so set "
                    "--console-tls-cert-file and --console-tls-key-file, or use 127.0.0.1 and a tunnel (ssh -L)",
                    options.address));
  }
}

}  // namespace apimesh::console
