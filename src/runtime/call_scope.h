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
  virtual void took(std::int64_t begin_ns, std::int64_t end_ns) noexcept = 0;

 protected:
  ~Listener() = default;
};

/// Lives as long as the call, whoever runs it. A call that nobody watches looks at no clock.
class CallScope {
 public:
  /// Of a call that no tracer sees.
  CallScope() noexcept = default;
  /// `site`: the return address in the program. Collective calls on communicators that are none are
  /// not seen.
  CallScope(const Call& call, const void* site) noexcept;
  ~CallScope() {
    if (begin_ns_ != 0) end();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// What the engine is about to run; and that the MPI library runs the call after all.
  void chosen(const Choice& choice) { note(choice); }
  void left() {
    if (chosen_) note({});
  }
  /// `listener` outlives the call, and is told of it when it has ended, even in the MPI library.
  /// Where nobody else watches, the call's time begins here.
  void tell(Listener& listener);

  std::int64_t begin_ns() const { return begin_ns_; }

 private:
  static constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

  void note(const Choice& choice);
  void end() noexcept;

  std::int64_t begin_ns_ = 0;  // 0: nobody watches
  std::uint64_t event_ = kNoEvent;
  Listener* listener_ = nullptr;
  bool chosen_ = false;
};

}  // namespace unisono
