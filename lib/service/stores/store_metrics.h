#pragma once

#include "lib/service/metrics.h"
#include "lib/storage/backend.h"

namespace apimesh::service {

/// Counts the requests to etcd and measures their duration, by resource and operation. `metrics` must outlive the
/// returned function and the observers that it makes.
std::function<std::shared_ptr<storage::EtcdObserver>(const meta::GroupResource&)> ObserveRequests(
    service::Metrics& metrics);

/// The number and size of stored objects and the statistics of their caches, under the metric names of kube-apiserver.
/// `all` may contain a resource several times, once for each of its caches.
std::vector<service::MetricFamily> DescribeStores(const std::vector<storage::ResourceStats>& all);

}  // namespace apimesh::service
