#include "comm/planned_calls.h"

#include <atomic>
#include <string>

#include "base/say.h"
#include "select/stored_order.h"

namespace unisono {

namespace {

constinit std::atomic<bool> g_planned{true}, g_logged{false};

}  // namespace

RepeatedCalls* PlannedCalls::of(Collective collective, const Algorithm& algorithm,
                                const Params& params, int rank) {
  if (!g_planned) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto rule = [&algorithm, params](const CountMatrix& matrix) {
    Args args;
    args.params = params;
    return schedule_messages(algorithm, args, matrix);
  };
  const Kind kind{collective, &algorithm, params.threshold};
  last_[collective] = kind;
  return &kinds_.try_emplace(kind, rank, rule).first->second;
}

std::shared_ptr<const MessageOrder> PlannedCalls::given(Collective collective,
                                                        const Algorithm& algorithm,
                                                        const Params& params, int rank, int ranks) {
  const std::lock_guard lock(mutex_);
  const auto found = said_.find(collective);
  if (found == said_.end()) return in_file(collective, params, rank, ranks);
  Said& said = found->second;
  const Kind kind{collective, said.order ? nullptr : &algorithm, params.threshold};
  const auto [made, is_new] = said.made.try_emplace(kind);
  if (!is_new) return made->second;
  Args args;
  args.params = params;
  const MessageList list =
      said.order ? said.order->list : schedule_messages(algorithm, args, said.counts);
  return made->second = std::make_shared<const MessageOrder>(order_of(list, rank));
}

void PlannedCalls::know(Collective collective, CountMatrix counts) {
  const std::lock_guard lock(mutex_);
  said_[collective] = {std::move(counts), std::nullopt, {}};
}

void PlannedCalls::follow(Collective collective, StoredOrder order) {
  const std::lock_guard lock(mutex_);
  CountMatrix counts = order.matrix;
  said_[collective] = {std::move(counts), std::move(order), {}};
}

void PlannedCalls::forget(Collective collective) {
  const std::lock_guard lock(mutex_);
  said_.erase(collective);
}

std::optional<StoredOrder> PlannedCalls::latest(Collective collective) {
  const std::lock_guard lock(mutex_);
  if (const auto said = said_.find(collective); said != said_.end())
    return said->second.order ? said->second.order
                              : make_order(said->second.counts, MessageRule::token_list, 0);
  const auto last = last_.find(collective);
  if (last == last_.end()) return std::nullopt;
  const auto& [_, algorithm, threshold] = last->second;
  auto learned = kinds_.at(last->second).latest();
  if (!learned) return std::nullopt;
  return StoredOrder{std::move(learned->list), std::move(learned->matrix), algorithm->rule,
                     threshold};
}

std::shared_ptr<const MessageOrder> PlannedCalls::in_file(Collective collective,
                                                          const Params& params, int rank,
                                                          int ranks) {
  const MessageList* list = params.file != nullptr ? loaded_order(params.file) : nullptr;
  if (list == nullptr) return nullptr;
  const auto [known, is_new] = stored_.try_emplace(params.file);
  if (!is_new) return known->second;
  if (list->size == ranks)
    known->second = std::make_shared<const MessageOrder>(order_of(*list, rank));
  else if (rank == 0)
    say(std::string(name(collective)) + " on " + std::to_string(ranks) + " ranks: " + *params.file +
        " holds an order for " + std::to_string(list->size) + "; counts are exchanged");
  return known->second;
}

void plan_repeated_calls(bool planned, bool logged) {
  g_planned = planned;
  g_logged = logged;
}

void tell(const RepeatedCalls::Learned& learned, Collective collective, const Algorithm& algorithm,
          int ranks) {
  if (!g_logged || learned.news == RepeatedCalls::News::nothing) return;
  const std::string call = std::string(name(collective)) + " on " + std::to_string(ranks) +
                           " ranks: " + std::string(algorithm.name) + ": ";
  if (learned.news == RepeatedCalls::News::dropped)
    return say(call + "the counts have changed: every call exchanges them until they repeat again");
  const std::string cycle =
      learned.period == 1
          ? "the counts of calls repeat"
          : "the counts of " + std::to_string(learned.period) + " calls in turn repeat";
  say(call + cycle + ": planned, one call in " + std::to_string(RepeatedCalls::kCheckEvery) +
      " exchanges them");
}

}  // namespace unisono
