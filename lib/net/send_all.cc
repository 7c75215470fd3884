#include "lib/net/send_all.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <liburing.h>
#include <sys/socket.h>

namespace apimesh::net {
namespace {

constexpr unsigned kRingEntries = 128;
constexpr std::size_t kWorthARing = 4;  // fewer sends are as fast one by one
constexpr long kNoAnswer = 1L << 62;    // a value that is never the result of a send

/// The ring of a thread, created when it is first needed. It is unusable in a container whose system calls are
/// filtered.
class Ring {
 public:
  static Ring& OfThisThread() {
    thread_local Ring ring;
    return ring;
  }
  Ring() {
    io_uring_params wanted{};
    // Only one thread uses it, so the kernel need not interrupt the thread to report completions.
    wanted.flags = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    usable_ = io_uring_queue_init_params(kRingEntries, &ring_, &wanted) == 0;
    if (usable_) return;
    wanted = {};  // for kernels before 6.1
    wanted.flags = IORING_SETUP_SUBMIT_ALL;
    usable_ = io_uring_queue_init_params(kRingEntries, &ring_, &wanted) == 0;
  }
  ~Ring() {
    if (usable_) io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;

  bool Usable() const { return usable_; }

  /// Sends at most kRingEntries entries. Each has a result afterwards, even if the kernel fails.
  void Send(std::span<SocketSend> sends) {
    for (std::size_t i = 0; i < sends.size(); ++i) {
      sends[i].result = kNoAnswer;
      io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
      // MSG_DONTWAIT also prevents the kernel from passing a full socket to its worker threads, so all sends are
      // complete when the call returns.
      io_uring_prep_send(entry, sends[i].fd, sends[i].bytes.data(), sends[i].bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      io_uring_sqe_set_data64(entry, i);
    }
    std::size_t answered = 0;
    while (answered < sends.size()) {
      const int submitted = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(sends.size() - answered));
      if (submitted < 0 && submitted != -EINTR) break;
      answered += Reap(sends);
    }
    if (answered == sends.size()) return;
    // The kernel has failed, for example because it has no memory. An entry without a result may have been sent, so it
    // must not be sent again, and its connection ends.
    usable_ = false;
    io_uring_queue_exit(&ring_);
    for (SocketSend& send : sends) {
      if (send.result == kNoAnswer) send.result = -EIO;
    }
  }

 private:
  std::size_t Reap(std::span<SocketSend> sends) {
    io_uring_cqe* answer = nullptr;
    unsigned head = 0, count = 0;
    io_uring_for_each_cqe(&ring_, head, answer) {
      sends[answer->user_data].result = answer->res;
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
    return count;
  }

  io_uring ring_{};
  bool usable_ = false;
};

}  // namespace

void SendOneByOne(std::span<SocketSend> sends) {
  for (SocketSend& send : sends) {
    const ssize_t sent = ::send(send.fd, send.bytes.data(), send.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    send.result = sent >= 0 ? sent : -errno;
  }
}

void SendAll(std::span<SocketSend> sends) {
  while (!sends.empty()) {
    const std::span<SocketSend> some = sends.first(std::min<std::size_t>(sends.size(), kRingEntries));
    sends = sends.subspan(some.size());
    if (some.size() >= kWorthARing && Ring::OfThisThread().Usable()) {
      Ring::OfThisThread().Send(some);
    } else {
      SendOneByOne(some);
    }
  }
}

}  // namespace apimesh::net
