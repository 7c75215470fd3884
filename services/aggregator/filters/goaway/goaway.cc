#include "services/aggregator/filters/goaway/goaway.h"

#include <cstdlib>
#include <random>

namespace apimesh::aggregator {
namespace {

bool Chosen(double chance) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>()(random) < chance;
}

class Goaway final : public Filter {
 public:
  explicit Goaway(double chance) : chance_(chance) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    if (exchange.request.peer->UsesHttp2() && Chosen(chance_)) exchange.reply.SetHeader("connection", "close");
    return next(exchange);
  }

 private:
  const double chance_;
};

}  // namespace

std::shared_ptr<Filter> MakeGoaway(const FilterInputs& inputs) {
  const double chance = std::atof(inputs.Get<GoawayOptions>().chance.c_str());
  return chance > 0 ? std::make_shared<Goaway>(chance) : nullptr;
}

}  // namespace apimesh::aggregator
