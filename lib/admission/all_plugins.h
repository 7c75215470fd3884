#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/admission/chain.h"
#include "lib/meta/gvk.h"
#include "lib/service/auth_client.h"
#include "lib/storage/store.h"

namespace apimesh::admission {

/// What plugins may read. Tests pass fakes.
struct PluginInputs {
  storage::StorePtr namespaces;  // nullptr: the server has cluster-scoped resources only
  /// Gives the store of a resource, or nullptr if this server has none. Stores are opened after the chain is made, so
  /// plugins call this when a request needs the store, not when they are made. May be empty.
  std::function<storage::StorePtr(const meta::GroupResource& resource)> store;
  /// Asks what a user is authorized to do. May be nullptr: then plugins that need an answer refuse.
  service::AuthClientPtr auth;
};

/// Names as --enable-admission-plugins and --disable-admission-plugins take them; `only` are those of the deprecated
/// --admission-control: if there are any, no other plugin runs.
struct PluginChoice {
  std::vector<std::string> enable;
  std::vector<std::string> disable;
  std::vector<std::string> only = {};
};

/// The chain of all chosen plugins in run order. Throws std::invalid_argument for an unknown name, and for a plugin
/// that is enabled by name but not implemented here: whoever names a plugin relies on what it refuses. Plugins that are
/// on by default and not implemented are left out.
ChainPtr MakeChain(const PluginInputs& inputs, const PluginChoice& choice);

/// All names, in run order.
std::vector<std::string> AllPluginNames();

}  // namespace apimesh::admission
