#include "lib/etcd/endpoints.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <charconv>

namespace apimesh::etcd {
namespace {

constexpr unsigned kReloadSeconds = 10;

bool Strip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// gRPC 1.51 aborts when its callback threads, which end with the last channel that used them, are started again while they
/// still end. One channel that has made a call and is never destroyed keeps them.
void KeepCallbackThreads() {
  struct Kept {
    std::unique_ptr<etcdserverpb::KV::Stub> stub = etcdserverpb::KV::NewStub(
        grpc::CreateChannel("unix:/dev/null", grpc::InsecureChannelCredentials()));  // nobody listens there
    grpc::ClientContext context;
    etcdserverpb::RangeRequest request;
    etcdserverpb::RangeResponse response;
    Kept() {
      stub->async()->Range(&context, &request, &response, [](const grpc::Status&) {});
    }
  };
  static Kept* const kept = new Kept();
  (void)kept;
}

std::shared_ptr<grpc::ChannelCredentials> TlsFor(const ClientOptions& options) {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions result;
  if (!options.ca_file.empty() || !options.cert_file.empty()) {
    result.set_certificate_provider(std::make_shared<tls::FileWatcherCertificateProvider>(
        options.key_file, options.cert_file, options.ca_file, kReloadSeconds));
    if (!options.ca_file.empty()) result.watch_root_certs();
    if (!options.cert_file.empty()) result.watch_identity_key_cert_pairs();
  }
  return tls::TlsCredentials(result);
}

grpc::ChannelArguments ArgumentsFor(const ClientOptions& options, int purpose) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // a page of a list may be large; etcd itself bounds what we send
  arguments.SetMaxSendMessageSize(-1);
  // Names the connection: channels with equal arguments would share one.
  arguments.SetInt("apimesh.purpose", purpose);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(duration_cast<milliseconds>(options.keepalive).count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  // gRPC's name for the time-out of one connection attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
                   static_cast<int>(duration_cast<milliseconds>(options.dial_timeout).count()));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

std::shared_ptr<grpc::Channel> ChannelTo(std::string_view url, const ClientOptions& options, int purpose) {
  std::string_view rest = url;
  const grpc::ChannelArguments arguments = ArgumentsFor(options, purpose);
  const auto plain = [&](std::string target) {
    return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  };
  const auto tls = [&](std::string target) { return grpc::CreateCustomChannel(target, TlsFor(options), arguments); };
  if (Strip(rest, "unixs:")) {
    Strip(rest, "//");
    return tls("unix:" + std::string(rest));
  }
  if (Strip(rest, "unix:")) {
    Strip(rest, "//");
    return plain("unix:" + std::string(rest));
  }
  if (Strip(rest, "https://")) return tls(std::string(rest));
  // A bare "host:port" is secure where certificates were given, as in etcd's own client.
  if (!Strip(rest, "http://") && !options.cert_file.empty()) return tls(std::string(rest));
  return plain(std::string(rest));
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

Endpoints::Endpoints(const ClientOptions& options) {
  KeepCallbackThreads();
  for (const std::string& url : options.endpoints) {
    std::string_view trimmed = url;
    while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
    const auto calls = ChannelTo(trimmed, options, 1);
    const auto streams = ChannelTo(trimmed, options, 2);
    auto endpoint = std::make_unique<Endpoint>();
    endpoint->url = trimmed;
    endpoint->kv = etcdserverpb::KV::NewStub(calls);
    endpoint->lease = etcdserverpb::Lease::NewStub(calls);
    endpoint->maintenance = etcdserverpb::Maintenance::NewStub(calls);
    endpoint->auth = etcdserverpb::Auth::NewStub(calls);
    endpoint->watch = etcdserverpb::Watch::NewStub(streams);
    all_.push_back(std::move(endpoint));
  }
}

void Endpoints::MoveOnFrom(const Endpoint& failed) {
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

void Endpoints::AddToken(grpc::ClientContext& context) const {
  if (const auto token = Token()) context.AddMetadata("token", *token);
}

}  // namespace apimesh::etcd
