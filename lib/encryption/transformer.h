#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/base/task.h"

/// Encryption at rest: what an object is in etcd, in the reference's own formats.
namespace apimesh::encryption {

struct Failure {
  bool temporary = false;  // a key service did not answer: the same may work later
  std::string message;
};
inline Failure Fail(std::string message, bool temporary = false) { return {temporary, std::move(message)}; }
template <class T = void>
using Result = boost::system::result<T, Failure>;
[[noreturn]] void throw_exception_from_error(const Failure& failure, const boost::source_location& where);

struct Opened {
  std::string plain;
  bool stale = false;  // a write would store it differently: another key or provider
};

/// Turns the bytes of an object into those that etcd holds, and back. `key` is the object's whole etcd key: a value does not
/// open under another one (aescbc and secretbox do not bind it). Thread-safe.
class Transformer {
 public:
  virtual ~Transformer() = default;
  virtual Result<std::string> Seal(std::string_view plain, std::string_view key) const = 0;
  /// An error, never wrong data, where the value was changed or is not ours.
  virtual Result<Opened> Open(std::string_view stored, std::string_view key) const = 0;

  /// Whether Open() needs a key for this value that has to be fetched first.
  virtual bool Locked(std::string_view stored) const = 0;
  virtual Task<Result<>> Unlock(std::string stored) const = 0;
  /// Makes sure that there is a key for Seal(), where there never was one.
  virtual Task<Result<>> PrepareSeal() const = 0;
};
using TransformerPtr = std::shared_ptr<const Transformer>;

/// One that needs nothing from outside.
class LocalTransformer : public Transformer {
 public:
  bool Locked(std::string_view) const override { return false; }
  Task<Result<>> Unlock(std::string) const override { co_return Result<>(); }
  Task<Result<>> PrepareSeal() const override { co_return Result<>(); }
};

/// Plain bytes; refuses what is marked as encrypted.
TransformerPtr Identity();

}  // namespace apimesh::encryption
