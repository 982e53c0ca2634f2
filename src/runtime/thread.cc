#include "runtime/thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace headrace {

Thread::Thread(const std::string& name, std::function<void()> body) {
  // The mask is inherited, so it is set around the creation: the new thread never runs with signals open.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([body = std::move(body), short_name = name.substr(0, 15)]() noexcept {
    pthread_setname_np(pthread_self(), short_name.c_str());
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace headrace
