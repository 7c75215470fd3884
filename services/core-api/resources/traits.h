#pragma once

#include "lib/meta/gvk.h"

namespace apimesh::core_api {

/// What differs between kinds and can be said in a word, for all built-in kinds.
struct Traits {
  bool generation = false;             // metadata.generation counts changes of what is wanted
  bool needs_version = false;          // no update without a resourceVersion
  bool create_on_update = false;       // PUT of a new name creates
  bool returns_deleted_object = false; // DELETE answers with the object
  bool not_enforced = false;           // a control that is stored and has no effect here: writes of it warn
};
Traits TraitsOf(const meta::GroupResource& resource);

}  // namespace apimesh::core_api
