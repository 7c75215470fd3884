#pragma once

#include <memory>

#include "lib/grpc/server_call.h"

namespace apimesh::grpc {

/// grpc.health.v1.Health for a server and for each of its services.
class Health : public std::enable_shared_from_this<Health> {
 public:
  static std::shared_ptr<Health> AddTo(Methods& methods);
  void SetServing(bool serving);

 private:
  struct State;
  explicit Health(std::vector<std::string> services);
  const std::shared_ptr<State> state_;
};

}  // namespace apimesh::grpc
