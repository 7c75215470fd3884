#include "lib/base/async/user_executors.h"

#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kStrands = 64;

/// The strands of an io_context, which live as long as it does.
class Strands final : public asio::execution_context::service {
 public:
  using key_type = Strands;
  inline static asio::execution_context::id id;

  explicit Strands(asio::execution_context& context) : service(context) {
    auto& threads = static_cast<asio::io_context&>(context);
    for (std::size_t i = 0; i < kStrands; ++i) strands_.emplace_back(asio::make_strand(threads));
  }

  const asio::any_io_executor& Of(std::string_view user) const { return strands_[SeededHash()(user) % kStrands]; }

 private:
  void shutdown() override { strands_.clear(); }

  std::vector<asio::any_io_executor> strands_;
};

}  // namespace

const asio::any_io_executor& ExecutorOfUser(const asio::any_io_executor& executor, std::string_view user) {
  asio::execution_context& context = asio::query(executor, asio::execution::context);
  return asio::use_service<Strands>(context).Of(user);
}

}  // namespace apimesh
