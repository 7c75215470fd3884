#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"

/// Encryption at rest: conversion between objects and their values in etcd, in the formats of kube-apiserver.
namespace apimesh::encryption {

struct Failure {
  bool temporary = false;  // a key service did not respond; a later attempt may succeed
  std::string message;
};
inline Failure Fail(std::string message, bool temporary = false) { return {temporary, std::move(message)}; }
template <class T = void>
using Result = boost::system::result<T, Failure>;
[[noreturn]] void throw_exception_from_error(const Failure& failure, const boost::source_location& where);

struct Opened {
  std::string plain;
  bool stale = false;  // a write would use another key or provider
};

/// Converts the bytes of an object to those that etcd stores, and back. `key` is the object's complete etcd key: a
/// value cannot be opened under another key (aescbc and secretbox do not ensure this). Thread-safe.
class Transformer {
 public:
  virtual ~Transformer() = default;
  virtual Result<std::string> Seal(std::string_view plain, std::string_view key) const = 0;
  /// Returns an error, and never wrong data, if the value was modified or has another format.
  virtual Result<Opened> Open(std::string_view stored, std::string_view key) const = 0;

  /// Returns whether Open() needs a key for this value that has to be fetched first.
  virtual bool NeedsKeyFetch(std::string_view stored) const = 0;
  virtual Task<Result<>> FetchKey(std::string stored) const = 0;
  /// Fetches a key for Seal() if none was fetched before.
  virtual Task<Result<>> PrepareSeal() const = 0;
};
using TransformerPtr = std::shared_ptr<const Transformer>;

/// A transformer that has its keys in memory.
class LocalTransformer : public Transformer {
 public:
  bool NeedsKeyFetch(std::string_view) const override { return false; }
  Task<Result<>> FetchKey(std::string) const override { co_return Result<>(); }
  Task<Result<>> PrepareSeal() const override { co_return Result<>(); }
};

/// Plain bytes. Rejects values that are marked as encrypted.
TransformerPtr Identity();

}  // namespace apimesh::encryption
