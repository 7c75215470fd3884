#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <string_view>

namespace apimesh::rpc {

struct CertificateFiles {
  std::string ca, cert, key;
};

/// Throws std::runtime_error, "PURPOSE needs mesh certificates, …", if one of the files is not there: gRPC would abort.
void RequireFiles(const CertificateFiles& files, std::string_view purpose);

// Both ends show a certificate of the mesh CA and demand one. The files are watched: a renewed certificate is used by
// the next handshake.
std::shared_ptr<grpc::ChannelCredentials> MeshChannelCredentials(const CertificateFiles& files);
std::shared_ptr<grpc::ServerCredentials> MeshServerCredentials(const CertificateFiles& files);

}  // namespace apimesh::rpc
