#pragma once

#include "lib/flags/binder.h"

namespace apimesh::admission {

/// The flags of DefaultTolerationSeconds.
struct TolerationFlags {
  int not_ready_seconds, unreachable_seconds;

  TolerationFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("default-not-ready-toleration-seconds", not_ready_seconds);
    flags.Bind("default-unreachable-toleration-seconds", unreachable_seconds);
  }
};

}  // namespace apimesh::admission
