#include "trace/program_frame.h"

#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <algorithm>

namespace unisono::trace {

namespace {

constexpr int kMostFrames = 256;

/// The stack of this thread, which is there as long as the thread is. A user-level thread's is
/// another.
struct Stack {
  std::uint64_t start = 0, end = 0;

  Stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
      start = reinterpret_cast<std::uint64_t>(lowest);
      end = start + bytes;
    }
    pthread_attr_destroy(&attributes);
  }
  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    return start <= at && at + sizeof(std::uint64_t) <= end;
  }
};

const Stack& stack_of_this_thread() {
  thread_local const Stack stack;
  return stack;
}

template <class Visit>
_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* visit) {
  return (*static_cast<Visit*>(visit))(context) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// From the innermost frame on, until `visit` returns false or nothing says where the next one is.
template <class Visit>
void visit_frames(Visit visit) {
  _Unwind_Backtrace(&visit_frame<Visit>, &visit);
}

}  // namespace

ProgramFrames::ProgramFrames() {
  const auto add = [](dl_phdr_info* object, std::size_t, void* ranges) {
    auto* next = static_cast<Range*>(ranges);
    for (int i = 0, most = 4; i < object->dlpi_phnum && most > 0; ++i) {
      const ElfW(Phdr)& part = object->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      const std::uint64_t start = object->dlpi_addr + part.p_vaddr;
      *next++ = {start, start + part.p_memsz};
      --most;
    }
    return 1;  // the first object is the main executable
  };
  dl_iterate_phdr(add, program_.data());
}

bool ProgramFrames::in_program(std::uint64_t address) const {
  return std::any_of(program_.begin(), program_.end(), [address](const Range& range) {
    return range.start <= address && address < range.end;
  });
}

std::uint64_t ProgramFrames::above(std::uint64_t site, const void* frame) {
  if (in_program(site)) return 0;
  const std::uint64_t mixed = (site / 4) ^ (reinterpret_cast<std::uint64_t>(frame) / 16);
  Found& known = known_[mixed % known_.size()];
  const bool same = known.site == site && known.frame == frame && known.slot != nullptr;
  if (!same || !stack_of_this_thread().holds(known.slot) || *known.slot != known.program)
    known = walk(site, frame);
  return known.program;
}

ProgramFrames::Found ProgramFrames::walk(std::uint64_t site, const void* frame) const {
  Found found{.site = site, .frame = frame};
  bool seen = false;
  int left = kMostFrames;
  visit_frames([&](_Unwind_Context* context) {
    const std::uint64_t address = _Unwind_GetIP(context);
    if (seen && in_program(address)) {
      found.program = address;
      // On x86-64 the call has pushed it just below what the called function's frame begins with.
      const auto* slot = reinterpret_cast<const std::uint64_t*>(_Unwind_GetCFA(context)) - 1;
      if (stack_of_this_thread().holds(slot) && *slot == address) found.slot = slot;
      return false;
    }
    seen = seen || address == site;
    return --left > 0;
  });
  return found;
}

}  // namespace unisono::trace
