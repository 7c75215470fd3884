#include "lib/etcd/endpoints.h"

#include <charconv>

namespace apimesh::etcd {
namespace {

bool Strip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::shared_ptr<grpc::Channel> ChannelTo(std::string_view url, const ClientOptions& options) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  grpc::ChannelOptions channel{.clock = options.clock};
  channel.network = http::Network::kEtcd;
  channel.connect_timeout = duration_cast<milliseconds>(options.dial_timeout);
  channel.keepalive = duration_cast<milliseconds>(options.keepalive);
  channel.tls_files.ca_file = options.ca_file;
  channel.tls_files.cert_file = options.cert_file;
  channel.tls_files.key_file = options.key_file;
  channel.tls_files.protocol = "h2";
  std::string_view rest = url;
  const bool local_tls = Strip(rest, "unixs:");
  if (local_tls || Strip(rest, "unix:")) {
    Strip(rest, "//");
    channel.target = "unix:" + std::string(rest);
    channel.tls = local_tls;
  } else {
    // A bare "host:port" uses TLS if certificates are configured, as in etcd's own client.
    channel.tls = Strip(rest, "https://") || (!Strip(rest, "http://") && !options.cert_file.empty());
    channel.target = rest;
  }
  return grpc::Channel::New(std::move(channel));
}

}  // namespace

bool ProgressInOrder(std::string_view version) {
  int parts[3] = {0, 0, 0};
  const char* position = version.data();
  const char* const end = version.data() + version.size();
  for (int& part : parts) {
    const auto [next, error] = std::from_chars(position, end, part);
    if (error != std::errc()) return false;
    position = next;
    if (position != end && *position == '.') ++position;
  }
  const auto [major, minor, patch] = parts;
  if (major != 3) return major > 3;
  if (minor == 4) return patch >= 31;
  if (minor == 5) return patch >= 13;
  return minor > 5;
}

Endpoints::Endpoints(const ClientOptions& options) : clock_(options.clock) {
  for (const std::string& url : options.endpoints) {
    std::string_view trimmed = url;
    while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
    auto endpoint = std::make_unique<Endpoint>();
    endpoint->url = trimmed;
    endpoint->calls = ChannelTo(trimmed, options);
    endpoint->streams = ChannelTo(trimmed, options);
    all_.push_back(std::move(endpoint));
  }
}

void Endpoints::FailOverFrom(const Endpoint& failed) {
  std::size_t index = current_.load();
  if (all_[index].get() != &failed) return;
  current_.compare_exchange_strong(index, (index + 1) % all_.size());
}

std::shared_ptr<const std::string> Endpoints::Token() const {
  const std::lock_guard lock(token_mutex_);
  return token_;
}

void Endpoints::SetToken(std::string token) {
  const std::lock_guard lock(token_mutex_);
  token_ = std::make_shared<const std::string>(std::move(token));
}

grpc::CallOptions Endpoints::Options(SteadyTime deadline) const {
  grpc::CallOptions options;
  options.deadline = deadline;
  if (const auto token = Token()) options.metadata.emplace_back("token", *token);
  return options;
}

}  // namespace apimesh::etcd
