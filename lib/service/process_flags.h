#pragma once

#include "lib/service/flags.h"

namespace apimesh::service {

/// Binds the flags of a process that belongs to a mesh but does not listen for its other processes: health address and
/// log. The other fields of `common` keep their defaults.
void BindProcessFlags(flags::Binder& flags, CommonFlags& common);

}  // namespace apimesh::service
