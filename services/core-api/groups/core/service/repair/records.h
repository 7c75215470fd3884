#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// What the repair of addresses and node ports needs to know of the stored objects.
namespace apimesh::core_api {

/// An object that an event is about.
struct Reference {
  std::string api_version, kind, ns, name, uid, resource_version;
};

struct ServiceRecord {
  Reference reference;
  std::string type;
  std::vector<std::string> ips;  // empty for services without addresses
  WallTime created;
  struct Port {
    std::int64_t node_port = 0;
    std::string protocol;
  };
  std::vector<Port> ports;
  std::int64_t health_check_port = 0;
};

struct AddressRecord {
  Reference reference;
  bool managed = false;   // allocated by the allocator of services
  bool labelled = false;  // managed, with the right family
  bool of_service = false;
  std::string parent_ns, parent_name;
  std::string parent;  // as Go prints it, for events
  WallTime created;
};

/// An event with the texts of kube-apiserver.
struct RepairEvent {
  Reference regarding;
  std::string reason, action, note;
};

/// Returns nullopt if the text is not the JSON of such an object.
std::optional<ServiceRecord> ReadService(std::string_view json);
std::optional<AddressRecord> ReadAddress(std::string_view json);

}  // namespace apimesh::core_api
