#include "lib/encryption/encryption.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/base/secrets/secret_file.h"
#include "lib/encryption/providers.h"

namespace apimesh::encryption {
namespace {

constexpr std::chrono::seconds kCheckInterval{60}, kCheckAgain{10};

Result<SecretBytes> Read(const std::string& path) {
  std::optional<SecretBytes> text = ReadSecretFile(path);
  if (!text)
    return Fail(
        fmt::format("error while loading file: error reading encryption provider configuration file \"{}\"", path));
  return std::move(*text);
}

/// Returns nullopt if the file cannot be read.
std::optional<std::size_t> HashOf(const std::string& path) {
  const std::optional<SecretBytes> text = ReadSecretFile(path);
  if (!text) return std::nullopt;
  return std::hash<std::string_view>()(*text);
}

}  // namespace

struct Encryption::Loaded {
  std::size_t hash = 0;  // hash of the file, which detects changes without keeping its keys
  Providers providers;
};

Encryption::Encryption(Private, Options options, std::shared_ptr<const Loaded> loaded)
    : options_(std::move(options)), loaded_(std::move(loaded)) {}

Result<std::shared_ptr<const Encryption::Loaded>> Encryption::Load(const std::string& path, bool reload,
                                                                   const Clock& clock) {
  ASSIGN_OR_RETURN(const SecretBytes text, Read(path));
  if (text.size() == 0) {
    return Fail(fmt::format(
        "error while parsing file: error while loading file: encryption provider configuration file \"{}\" is empty",
        path));
  }
  auto config = ParseConfig(text);
  if (!config) {
    return Fail(
        fmt::format("error while parsing file: error decoding encryption provider configuration file \"{}\": {}", path,
                    config.error().message));
  }
  std::vector<std::string> errors;
  for (const meta::FieldError& error : Validate(*config, reload))
    errors.push_back(error.field + ": " + error.Message());
  if (!errors.empty()) return Fail("error while parsing file: " + Aggregate(errors));
  auto providers = MakeProviders(*config, clock);
  if (!providers) return Fail("error while building transformers: " + providers.error().message);
  auto loaded = std::make_shared<Loaded>();
  loaded->hash = std::hash<std::string_view>()(text);
  loaded->providers = std::move(*providers);
  return std::shared_ptr<const Loaded>(std::move(loaded));
}

TransformerPtr Encryption::For(const std::string& group, const std::string& resource) const {
  return Now()->providers.For({resource, group});
}

std::string Encryption::Problem() const {
  std::vector<std::string> errors;
  const std::shared_ptr<const Loaded> loaded = Now();
  for (std::size_t i = 0; i < loaded->providers.kms.size(); ++i) {
    if (const std::string problem = loaded->providers.kms[i]->Problem(); !problem.empty()) {
      errors.push_back(fmt::format("kms-provider-{}: {}", i, problem));
    }
  }
  return errors.empty() ? "" : Aggregate(errors);
}
bool Encryption::HasHealthCheck() const { return options_.reload || !Now()->providers.kms.empty(); }

void Encryption::OnReload(std::function<void()> reloaded) {
  const std::lock_guard lock(mutex_);
  reloaded_.push_back(std::move(reloaded));
}

void Encryption::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (asleep_) asleep_->Wake();
}

Task<> Encryption::Run(std::shared_ptr<Encryption> self) {
  bool fine = true;
  for (;;) {
    fine = co_await self->CheckAll(self->Now());
    const SteadyTime next = self->options_.clock.Steady() + (fine ? kCheckInterval : kCheckAgain);
    while (self->options_.clock.Steady() < next) {
      const SteadyTime until =
          self->options_.reload ? std::min(next, self->options_.clock.Steady() + self->options_.poll) : next;
      const std::shared_ptr<Wakeup> sleep = Wakeup::New();
      {
        const std::lock_guard lock(self->mutex_);
        if (self->stopped_) co_return;
        self->asleep_ = sleep;
      }
      co_await Wakeup::Wait(sleep, until);
      {
        const std::lock_guard lock(self->mutex_);
        if (self->stopped_) co_return;
      }
      if (self->options_.reload) co_await self->Reload();
    }
  }
}

std::shared_ptr<const Encryption::Loaded> Encryption::Now() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

Task<bool> Encryption::CheckAll(std::shared_ptr<const Loaded> loaded) {
  bool fine = true;
  for (const std::shared_ptr<Kms>& kms : loaded->providers.kms) {
    const Result<> checked = co_await kms->Check();
    if (!checked) log::Warning("{}", checked.error().message);
    fine = fine && checked.has_value();
  }
  co_return fine;
}

Task<> Encryption::Reload() {
  const bool changed = HashOf(options_.file) != Now()->hash;
  if (!changed) co_return;
  auto loaded = Load(options_.file, true, options_.clock);
  if (!loaded) {
    log::Error("error processing encryption config file {}: {}", options_.file, loaded.error().message);
    co_return;
  }
  // Plugins that do not work yet must not replace working ones. The next check of the file tries again.
  const bool fine = co_await CheckAll(*loaded);
  if (!fine) {
    log::Error("encryption config file {}: a new KMS plugin is not healthy; the old configuration stays active",
               options_.file);
    co_return;
  }
  std::vector<std::function<void()>> reloaded;
  {
    const std::lock_guard lock(mutex_);
    loaded_ = *loaded;
    reloaded = reloaded_;
  }
  log::Info("encryption config file {} was reloaded", options_.file);
  for (const auto& call : reloaded) call();
}

Result<std::shared_ptr<Encryption>> Encryption::Start(Options options, boost::asio::any_io_executor executor) {
  ASSIGN_OR_RETURN(std::shared_ptr<const Loaded> loaded, Load(options.file, options.reload, options.clock));
  const bool loops = options.reload || !loaded->providers.kms.empty();
  auto encryption = std::make_shared<Encryption>(Private(), std::move(options), std::move(loaded));
  if (loops) boost::asio::co_spawn(executor, Run(encryption), boost::asio::detached);
  return encryption;
}

}  // namespace apimesh::encryption
