#pragma once

#include <memory>
#include <string>

#include "services/store/tool/commands.h"

namespace grpc {
class Channel;
class Status;
}  // namespace grpc

namespace apimesh::store::tool {

/// Opens a channel to "http://host:port", "https://host:port" or "unix:///path", with --cacert, --cert and --key.
std::shared_ptr<::grpc::Channel> OpenChannel(const std::string& url, const Arguments& arguments);
/// Throws std::runtime_error if a call failed.
void Require(const ::grpc::Status& status, const std::string& what);

}  // namespace apimesh::store::tool
