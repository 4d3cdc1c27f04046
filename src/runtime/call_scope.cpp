#include "runtime/call_scope.h"

#include "runtime/call_time.h"
#include "runtime/tracer.h"

namespace unisono {

constinit trace::FastClock g_call_clock;

// The time is taken last, and first at the end: what the watching costs is not the call's.
CallScope::CallScope(const Call& call, const void* site) noexcept {
  try {
    if (Communicator* communicator = g_tracer != nullptr ? Communicator::of(call.comm) : nullptr)
      event_ = g_tracer->enter(call, *communicator, site, begin_ns_);
  } catch (...) {
    event_ = kNoEvent;  // no memory: unseen
  }
  if (begin_ns_ == 0) begin_ns_ = call_time();
}

void CallScope::tell(Listener& listener) {
  listener_ = &listener;
  if (begin_ns_ == 0) begin_ns_ = call_time();
}

void CallScope::end() noexcept {
  const std::int64_t end_ns = call_time();
  if (event_ != kNoEvent && g_tracer != nullptr) g_tracer->leave(event_, end_ns);
  if (listener_ != nullptr) listener_->took(begin_ns_, end_ns);
}

void CallScope::note(const Choice& choice) {
  chosen_ = choice.algorithm != nullptr;
  if (event_ != kNoEvent && g_tracer != nullptr) g_tracer->chosen(event_, choice);
}

}  // namespace unisono
