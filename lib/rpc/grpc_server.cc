#include "lib/rpc/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>

#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "lib/rpc/grpc_settings.h"
#include "lib/rpc/grpc_tls.h"

namespace apimesh::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";

void EnableHealthAndReflection() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

void MakeSocketFolder(const std::filesystem::path& socket) {
  const auto folder = socket.parent_path();
  if (folder.empty() || std::filesystem::exists(folder)) return;
  std::filesystem::create_directories(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::runtime_error(fmt::format("cannot make the folder {}: {}", folder.string(), std::strerror(errno)));
  }
}

void AddListener(grpc::ServerBuilder& builder, const Listener& listener, int* port) {
  if (std::string_view(listener.address).starts_with(kUnix)) {
    MakeSocketFolder(listener.address.substr(kUnix.size()));
    builder.AddListeningPort(listener.address, grpc::InsecureServerCredentials());
    return;
  }
  const CertificateFiles files{listener.ca_file, listener.cert_file, listener.key_file};
  RequireFiles(files, "listening on " + listener.address);
  builder.AddListeningPort(listener.address, MeshServerCredentials(files), port);
}

}  // namespace

GrpcServer::GrpcServer(const std::vector<Listener>& listeners, const std::vector<grpc::Service*>& services)
    : ports_(listeners.size(), 0) {
  EnableHealthAndReflection();
  grpc::ServerBuilder builder;
  for (std::size_t i = 0; i < listeners.size(); ++i) AddListener(builder, listeners[i], &ports_[i]);
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.SetMaxReceiveMessageSize(-1);
  for (const auto& [name, value] : SharedSettings()) builder.AddChannelArgument(name, value);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients ping every 20 s.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  server_ = builder.BuildAndStart();
  for (const Listener& listener : listeners) {
    if (!server_) throw std::runtime_error(fmt::format("cannot listen on {}", listener.address));
    if (std::string_view(listener.address).starts_with(kUnix)) {
      ::chmod(listener.address.substr(kUnix.size()).c_str(), 0600);
    }
  }
}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::milliseconds(0)); }

void GrpcServer::SetServing(bool serving) {
  if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(serving);
}

void GrpcServer::Shutdown(std::chrono::milliseconds limit) {
  server_->Shutdown(std::chrono::system_clock::now() + limit);
}

}  // namespace apimesh::rpc
