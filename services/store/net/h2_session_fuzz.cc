// Links: services/store/net/h2_session.cc services/store/net/h2_call.cc services/store/mvcc/request_checks.cc
// Links: base etcd_proto_messages PkgConfig::NGHTTP2
#include <cstddef>
#include <cstdint>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/request_checks.h"
#include "services/store/net/h2_session.h"

namespace {

using namespace apimesh::store;

/// Parses and checks a message as each of the requests that clients send, then answers.
class CheckAll final : public CallHandler {
 public:
  explicit CheckAll(CallPtr call) : call_(std::move(call)) {}
  void OnMessage(std::string_view message) override {
    const int size = static_cast<int>(message.size());
    if (etcdserverpb::RangeRequest range; range.ParseFromArray(message.data(), size)) CheckRange(range);
    if (etcdserverpb::PutRequest put; put.ParseFromArray(message.data(), size)) CheckPut(put);
    if (etcdserverpb::DeleteRangeRequest remove; remove.ParseFromArray(message.data(), size)) CheckDeleteRange(remove);
    if (etcdserverpb::TxnRequest txn; txn.ParseFromArray(message.data(), size)) {
      CheckTxn(txn, 128);
      IsReadOnly(txn);
    }
    etcdserverpb::WatchRequest watch;
    call_->Send(watch.ParseFromArray(message.data(), size) ? watch.SerializeAsString() : "");
  }
  void OnHalfClose() override { call_->Finish({}); }

 private:
  CallPtr call_;
};

}  // namespace

// Any bytes may come from a client, before and after the HTTP/2 preface, whole or in pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Routes routes{.grpc = [](std::string_view, const CallPtr& call) { return std::make_unique<CheckAll>(call); },
                      .http = [](std::string_view) { return HttpAnswer{200, "text/plain", "ok"}; },
                      .max_message_bytes = 4096};
  H2Session session(routes, [] {});
  std::string bytes;
  if ((data[0] & 1) != 0) bytes = std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string("\0\0\0\x04\0\0\0\0\0", 9);
  bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1 + (data[0] >> 1) * 4;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (!session.Receive(std::string_view(bytes).substr(at, piece))) return 0;
    std::string out;
    if (!session.Fill(out)) return 0;
    session.NotifyDrained();
  }
  session.GoAway();
  return 0;
}
