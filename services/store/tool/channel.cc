#include "services/store/tool/channel.h"

#include <stdexcept>

#include <grpcpp/grpcpp.h>

#include "lib/base/file.h"

namespace apimesh::store::tool {
namespace {

/// Returns the contents of the file that an option names; empty if the option is not set.
std::string Contents(const std::string& path) {
  if (path.empty()) return {};
  std::optional<std::string> contents = ReadFile(path);
  if (!contents) throw std::runtime_error("cannot read " + path);
  return std::move(*contents);
}

}  // namespace

std::shared_ptr<::grpc::Channel> OpenChannel(const std::string& url, const Arguments& arguments) {
  ::grpc::ChannelArguments channel;
  channel.SetMaxReceiveMessageSize(-1);
  if (url.starts_with("https://")) {
    const ::grpc::SslCredentialsOptions tls{Contents(arguments.Get("cacert")), Contents(arguments.Get("key")),
                                            Contents(arguments.Get("cert"))};
    return ::grpc::CreateCustomChannel(url.substr(8), ::grpc::SslCredentials(tls), channel);
  }
  std::string target = url.starts_with("http://") ? url.substr(7) : url;
  if (url.starts_with("unix://")) target = "unix:" + url.substr(7);
  return ::grpc::CreateCustomChannel(target, ::grpc::InsecureChannelCredentials(), channel);
}

void Require(const ::grpc::Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + status.error_message());
}

}  // namespace apimesh::store::tool
