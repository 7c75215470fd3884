#pragma once

#include "lib/service/metrics.h"
#include "lib/storage/backend.h"

namespace apimesh::stores {

/// Requests to etcd, how many and how long each, by resource and operation. `metrics` must outlive what it returns.
std::function<std::shared_ptr<storage::EtcdObserver>(const meta::GroupResource&)> ObserveRequests(service::Metrics& metrics);

/// How many objects there are, how large, and what their caches did; under the reference's names. `all` may have a resource several times,
/// once for each of its caches.
std::vector<service::MetricFamily> DescribeStores(const std::vector<storage::ResourceStats>& all);

}  // namespace apimesh::stores
