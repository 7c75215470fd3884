#pragma once

#include <memory>
#include <string>

#include "lib/http/client.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::core_api {

/// A SPDY connection to a kubelet.
struct KubeletConnection {
  std::unique_ptr<http::RawConnection> connection;
  std::string protocol;  // the version of the streams that the kubelet selected
};

/// Connects to `url` by SPDY. The error's message is what kube-apiserver reports to the client.
Task<http::ClientResult<KubeletConnection>> ConnectBySpdy(std::shared_ptr<http::Client> client, std::string url,
                                                          SteadyTime deadline);

}  // namespace apimesh::core_api
