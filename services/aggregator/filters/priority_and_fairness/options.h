#pragma once

#include "lib/flags/binder.h"

namespace apimesh::aggregator {

struct PriorityAndFairnessOptions {
  bool enabled;

  PriorityAndFairnessOptions() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("enable-priority-and-fairness", enabled); }
};

}  // namespace apimesh::aggregator
