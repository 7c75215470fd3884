#pragma once

#include "lib/flags/binder.h"

namespace apimesh::service {

/// The flag of processes that can be shards (shard.h).
struct ShardFlags {
  bool shard;  // another process serves the same groups, and runs the controllers

  ShardFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("shard", shard); }
};

}  // namespace apimesh::service
