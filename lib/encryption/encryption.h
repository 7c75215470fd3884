#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

#include "lib/encryption/transformer.h"

namespace apimesh::encryption {

struct Options {
  std::string file;     // --encryption-provider-config
  bool reload = false;  // --encryption-provider-config-automatic-reload
  Duration poll = std::chrono::seconds(10);
};

/// The encryption configuration of a server while it runs: follows its file, keeps KMS plugins checked. Thread-safe.
class Encryption {
 public:
  virtual ~Encryption() = default;
  /// How values of a resource are stored from now on. Ask again for every write and batch: a reload changes it.
  virtual TransformerPtr For(const std::string& group, const std::string& resource) const = 0;
  /// Empty: all KMS plugins are fine. The health check "kms-providers".
  virtual std::string Problem() const = 0;
  /// Whether there is something that Problem() could tell, now or after a reload.
  virtual bool HasHealthCheck() const = 0;
  /// Called after each change of the configuration, from its loop.
  virtual void OnReload(std::function<void()> reloaded) = 0;
  virtual void Stop() = 0;
};

/// Reads the file; its background work runs on `executor`. A broken file is an error here; later it is logged, and what was
/// read before goes on.
Result<std::shared_ptr<Encryption>> NewEncryption(Options options, boost::asio::any_io_executor executor);

}  // namespace apimesh::encryption
