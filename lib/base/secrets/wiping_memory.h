#pragma once

#include <utility>

#include <boost/json/storage_ptr.hpp>
#include <openssl/crypto.h>

namespace apimesh {

/// The memory of JSON documents with key material. It is overwritten when it is freed, also when a part of the document
/// grows into other memory.
class WipingMemory final : public boost::json::memory_resource {
 public:
  /// `upstream` provides the memory.
  explicit WipingMemory(boost::json::storage_ptr upstream = {}) : upstream_(std::move(upstream)) {}
  static boost::json::storage_ptr New() { return boost::json::make_shared_resource<WipingMemory>(); }

 protected:
  void* do_allocate(std::size_t size, std::size_t align) override { return upstream_->allocate(size, align); }
  void do_deallocate(void* memory, std::size_t size, std::size_t align) override {
    OPENSSL_cleanse(memory, size);
    upstream_->deallocate(memory, size, align);
  }
  bool do_is_equal(const boost::json::memory_resource& other) const noexcept override { return this == &other; }

 private:
  const boost::json::storage_ptr upstream_;
};

}  // namespace apimesh
