#pragma once

#include "lib/service/runtime.h"
#include "lib/service/stores/stores.h"

namespace apimesh::service {

struct EtcdCheckFlags {
  std::chrono::milliseconds healthcheck_timeout, readycheck_timeout;

  EtcdCheckFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("etcd-healthcheck-timeout", healthcheck_timeout);
    flags.Bind("etcd-readycheck-timeout", readycheck_timeout);
  }
};

/// Adds the checks "etcd" and "etcd-readiness", which fail if a probe of etcd, every two seconds, takes longer than
/// --etcd-healthcheck-timeout and --etcd-readycheck-timeout, and "etcd-override-N" and
/// "etcd-override-readiness-N" for --etcd-servers-overrides. The size of each database is exported as a metric.
void AddEtcdChecks(service::Runtime& runtime, const Stores& stores, const EtcdCheckFlags& flags);

}  // namespace apimesh::service
