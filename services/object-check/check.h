#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/etcd/client.h"
#include "services/object-check/report.h"

/// Reads all objects of an API server from etcd, or from our store, and checks that this server can serve them.
namespace apimesh::object_check {

struct Options {
  const Clock& clock;
  std::string prefix = "/registry";  // --etcd-prefix of the API server
  std::string encryption_config;     // --encryption-provider-config; empty: nothing is encrypted
  boost::asio::any_io_executor executor;
  bool show_progress = true;  // on standard error
};

/// Reads pages of one revision; if etcd compacts this revision meanwhile, the rest is read at the newest one. Nothing
/// is written. Throws std::runtime_error if the data or the encryption configuration cannot be read.
Task<Report> CheckAll(etcd::Client& client, Options options);

}  // namespace apimesh::object_check
