#pragma once

#include "lib/base/bytes.h"

namespace apimesh {

/// Revocable memory that a test revokes. The bytes belong to the test.
class TestMemory final : public RevocableMemory {
 public:
  bool StillValid() const override {
    ++asked;
    return valid;
  }

  bool valid = true;
  mutable int asked = 0;  // the number of checks
};

}  // namespace apimesh
