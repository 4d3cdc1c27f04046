// What the engine says of its decisions.
#include "base/size.h"
#include "runtime/engine.h"
#include "select/spec.h"

namespace unisono {

// Once per job: communicators side by side would all say the same.
void Engine::say_once(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (complained_.insert(text).second) say(text);
}

void Engine::report(Communicator& communicator, const Facts& facts, const Choice& choice,
                    const char* form) {
  const bool is_told =
      (log_decisions_ && communicator.rank() == 0) || (choice.unmet != nullptr && first_rank_);
  if (!is_told) return;
  const std::string call = form + std::string(name(facts.collective));
  if (choice.unmet != nullptr && first_rank_ && communicator.is_first(facts.collective))
    say_once(call + " on " + std::to_string(facts.size) +
             " ranks: " + std::string(choice.unmet->name) + " " + std::string(choice.why) +
             "; the MPI library's own runs");
  if (!log_decisions_ || communicator.rank() != 0) return;
  const Spec spec{choice.algorithm, false, choice.params};
  std::string text = call + " of " + format_size(facts.bytes) + "B" + " on " +
                     std::to_string(facts.size) + " ranks: " + unisono::text(spec) + " (" +
                     std::string(choice.why) + (choice.segment.empty() ? "" : "; ") +
                     std::string(choice.segment) + ")";
  if (communicator.is_new(text)) say(text);
}

}  // namespace unisono
