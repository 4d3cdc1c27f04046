// A call that somebody watches: the tracer, or a selector that learns from the time calls take.
#pragma once
#include <cstdint>

#include "calls/call.h"
#include "comm/communicator.h"
#include "select/selector.h"

namespace unisono {

/// Wants to know how long the calls take that it has decided about.
class Listener {
 public:
  virtual void took(std::int64_t elapsed_ns) noexcept = 0;

 protected:
  ~Listener() = default;
};

/// Lives as long as the call, whoever runs it. Made where kWatched is set in g_candidates, and
/// there only: a call that nobody watches knows nothing of all this.
class CallScope {
 public:
  /// `site`: the return address in the program. Collective calls on communicators that are none are
  /// not seen.
  CallScope(const Call& call, const void* site) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// What the engine is about to run; and that the MPI library runs the call after all.
  void chosen(const Choice& choice) { note(choice); }
  void left() {
    if (chosen_) note({});
  }
  /// `listener` outlives the call, and is told of it when it has ended, even in the MPI library.
  void tell(Listener& listener) { listener_ = &listener; }

  std::int64_t begin_ns() const { return begin_ns_; }

 private:
  void note(const Choice& choice);

  std::int64_t begin_ns_ = 0;
  std::uint64_t event_;
  Listener* listener_ = nullptr;
  bool chosen_ = false;
};

}  // namespace unisono
