#include "runtime/thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace headrace {
namespace {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Thread::Thread(const std::string& name, std::function<void()> body) {
  // The mask is inherited, so it is set around the creation: the new thread never runs with signals open.
  const BlockedSignals blocked;
  thread_ = std::thread([body = std::move(body), short_name = name.substr(0, 15)]() noexcept {
    pthread_setname_np(pthread_self(), short_name.c_str());
    body();
  });
}

}  // namespace headrace
