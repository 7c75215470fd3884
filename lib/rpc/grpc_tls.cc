#include "lib/rpc/grpc_tls.h"

#include <fmt/format.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <filesystem>
#include <stdexcept>

namespace apimesh::rpc {
namespace {

constexpr unsigned kCheckFilesSeconds = 2;

std::shared_ptr<grpc::experimental::CertificateProviderInterface> Watch(const CertificateFiles& files) {
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(files.key, files.cert, files.ca,
                                                                              kCheckFilesSeconds);
}

}  // namespace

void RequireFiles(const CertificateFiles& files, std::string_view purpose) {
  for (const std::string& file : {files.ca, files.cert, files.key}) {
    if (std::filesystem::exists(file)) continue;
    throw std::runtime_error(fmt::format("{} needs mesh certificates, and the file \"{}\" is not there", purpose, file));
  }
}

std::shared_ptr<grpc::ChannelCredentials> MeshChannelCredentials(const CertificateFiles& files) {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(Watch(files));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> MeshServerCredentials(const CertificateFiles& files) {
  grpc::experimental::TlsServerCredentialsOptions options(Watch(files));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace apimesh::rpc
