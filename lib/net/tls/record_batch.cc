#include "lib/net/tls/record_batch.h"

#include <algorithm>
#include <cstring>

#include "lib/net/send_group.h"
#include "lib/net/tls/record_buffer.h"

namespace apimesh::net {
namespace {
constexpr std::size_t kMostPostponed = 128;  // with this limit, the first records are still in the CPU cache
}

RecordBatch& RecordBatch::OfThisThread() {
  thread_local RecordBatch batch;
  return batch;
}

char* RecordBatch::Room(std::size_t bytes) {
  if (size_ + bytes > capacity_) {
    capacity_ = std::max(size_ + bytes, kBytes + 2 * RecordBuffer::kRecordBytes);
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }
  return bytes_.get() + size_;
}

void RecordBatch::EndGroup() {
  if (--groups_ == 0) Flush();
}

void RecordBatch::Postpone(RecordBuffer& owner, int fd) {
  postponed_.push_back({&owner, fd, begin_, size_});
  begin_ = size_;
  if (size_ >= kBytes || postponed_.size() >= kMostPostponed) Flush();
}

void RecordBatch::Flush() {
  sends_.clear();
  for (const Postponed& one : postponed_) sends_.push_back({one.fd, {bytes_.get() + one.begin, one.end - one.begin}});
  SendAll(sends_);
  for (std::size_t i = 0; i < sends_.size(); ++i) postponed_[i].owner->Sent(sends_[i].bytes, sends_[i].result);
  postponed_.clear();
  // The current connection may already have records: a connection that writes again must first send its postponed ones.
  if (size_ > begin_) std::memmove(bytes_.get(), bytes_.get() + begin_, size_ - begin_);
  size_ -= begin_;
  begin_ = 0;
}

SendGroup::SendGroup() { RecordBatch::OfThisThread().BeginGroup(); }
SendGroup::~SendGroup() { RecordBatch::OfThisThread().EndGroup(); }

}  // namespace apimesh::net
