#include "services/store/tool/channel.h"

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace apimesh::store::tool {
namespace {

std::string ReadFile(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

}  // namespace

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& url, const Arguments& arguments) {
  grpc::ChannelArguments channel;
  channel.SetMaxReceiveMessageSize(-1);
  if (url.starts_with("https://")) {
    const grpc::SslCredentialsOptions tls{ReadFile(arguments.Get("cacert")), ReadFile(arguments.Get("key")),
                                          ReadFile(arguments.Get("cert"))};
    return grpc::CreateCustomChannel(url.substr(8), grpc::SslCredentials(tls), channel);
  }
  std::string target = url.starts_with("http://") ? url.substr(7) : url;
  if (url.starts_with("unix://")) target = "unix:" + url.substr(7);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), channel);
}

void Require(const grpc::Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + status.error_message());
}

}  // namespace apimesh::store::tool
