#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/encryption/transformer.h"

namespace apimesh {
class Wakeup;
}

namespace apimesh::encryption {

struct Options {
  const Clock& clock;
  std::string file;     // --encryption-provider-config
  bool reload = false;  // --encryption-provider-config-automatic-reload
  Duration poll = std::chrono::seconds(10);
};

/// The encryption configuration of a running server. It follows changes of its file and checks KMS plugins.
/// Thread-safe.
class Encryption final {
  struct Loaded;
  struct Private {};

 public:
  /// Reads the file. Background work runs on `executor`. An invalid file is an error here; after a later change it is
  /// logged, and the previous configuration stays active.
  static Result<std::shared_ptr<Encryption>> Start(Options options, boost::asio::any_io_executor executor);
  Encryption(Private, Options options, std::shared_ptr<const Loaded> loaded);  // Use Start().

  /// Returns how values of a resource are stored now. Callers must ask again for every write and batch, because a
  /// reload changes it.
  TransformerPtr For(const std::string& group, const std::string& resource) const;
  /// Returns an empty string if all KMS plugins work. Serves the health check "kms-providers".
  std::string Problem() const;
  /// Returns whether Problem() can ever report something, now or after a reload.
  bool HasHealthCheck() const;
  /// `reloaded` is called after each change of the configuration, from the background loop.
  void OnReload(std::function<void()> reloaded);
  /// Ends the background work.
  void Stop();

 private:
  static Result<std::shared_ptr<const Loaded>> Load(const std::string& path, bool reload, const Clock& clock);
  static Task<> Run(std::shared_ptr<Encryption> self);
  std::shared_ptr<const Loaded> Now() const;
  Task<bool> CheckAll(std::shared_ptr<const Loaded> loaded);
  Task<> Reload();

  const Options options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Loaded> loaded_;         // guarded by mutex_
  std::vector<std::function<void()>> reloaded_;  // guarded by mutex_
  std::shared_ptr<Wakeup> asleep_;               // guarded by mutex_
  bool stopped_ = false;                         // guarded by mutex_
};

}  // namespace apimesh::encryption
