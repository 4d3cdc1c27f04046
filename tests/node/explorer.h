// Runs a few ranks through every interleaving of their accesses to shared words.
//
// A rank is a coroutine (ucontext, and setjmp once it runs, which costs no system call) that stops
// before each access; the explorer chooses who goes on,
// depth first, by running again from the start with other choices. A state is what the words hold
// and what each rank has read so far, for that is all its next step depends on; a state that was
// met before is not gone into again. A fruitless look in a loop blocks the rank until the word
// changes, so that loops are finite. Nobody can go on and not all have ended: a deadlock, for
// example a lost wake-up.
//
// Sequentially consistent, or with a store buffer for each rank (x86-TSO; Owens, Sarkar and Sewell
// 2009): stores reach the others late and in order; exchanges, additions and system calls wait
// until the buffer is empty. Weaker processors are not modelled: there the acquire and release of
// the code must be right by argument, and ThreadSanitizer checks that they are there.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "node/wait.h"

namespace unisono::node {

class Explorer {
 public:
  using Value = std::uint64_t;
  enum class Kind { load, store, add, exchange, change, sleep, wake, resume, done };

  struct Outcome {
    std::string problem;  ///< empty: none
    std::size_t states = 0;
    bool complete = true;
  };

  static constexpr Value kBlind = ~Value{0};  ///< to sleep, whatever the word is
  static constexpr Value kOnlyOne = 1;        ///< to wake

  explicit Explorer(bool store_buffers = false, std::size_t most_states = 2'000'000)
      : store_buffers_(store_buffers), most_states_(most_states) {}

  /// `reset` makes the shared memory anew; `body` is what a rank does.
  Outcome explore(int ranks, std::function<void()> reset, std::function<void(int)> body);

  /// From a body.
  Value perform(Kind kind, Value* word, Value value = 0);
  void expect(bool holds, const char* what) {
    if (!holds && problem_.empty()) problem_ = what;
  }

  /// What a rank's next steps depend on, when it is less than all that the rank has read so far:
  /// then more states are the same.
  Value history() const { return ranks_[static_cast<std::size_t>(running_)].history; }
  void forget(Value all_that_matters) {
    ranks_[static_cast<std::size_t>(running_)].history = all_that_matters;
  }
  int running() const { return running_; }
  /// By this rank.
  Value last_loaded() const { return ranks_[static_cast<std::size_t>(running_)].loaded; }

  inline static Explorer* current = nullptr;

 private:
  struct Store {
    Value* word;
    Value value;
  };
  struct Rank {
    ucontext_t context;
    jmp_buf beginning, place;
    bool has_stack = false;
    std::vector<char> stack = std::vector<char>(128 << 10);
    Kind kind = Kind::done;
    Value* word = nullptr;
    Value value = 0, result = 0;
    bool asleep = false;
    Value history = 0, loaded = 0;
    std::deque<Store> buffer;
  };
  struct Choice {
    std::vector<int> actions;  ///< a rank goes on; or, ranks_.size() + r: r's oldest store arrives
    std::size_t taken = 0;
  };

  static void enter(int rank);
  void start();
  void resume(int rank);
  void act(int action);
  void access(Rank& rank);
  Value visible(const Rank& rank, const Value* word) const;
  std::vector<int> enabled() const;
  bool is_enabled(const Rank& rank) const;
  bool is_private(const Rank& rank) const;
  bool all_done() const;
  Value state() const;
  bool forward(std::vector<Choice>& path);
  std::string story(const std::vector<Choice>& path) const;

  bool store_buffers_;
  std::size_t most_states_;
  std::function<void()> reset_;
  std::function<void(int)> body_;
  ucontext_t main_;
  jmp_buf place_;
  std::vector<Rank> ranks_;
  int running_ = 0;
  std::set<Value*> words_;  // that were ever accessed
  std::unordered_set<Value> seen_;
  std::string problem_;
};

inline Explorer::Value mixed(Explorer::Value hash, Explorer::Value value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

inline void Explorer::enter(int rank) {
  _setjmp(current->ranks_[static_cast<std::size_t>(rank)].beginning);
  current->body_(rank);
  current->perform(Kind::done, nullptr);
}

inline Explorer::Value Explorer::perform(Kind kind, Value* word, Value value) {
  Rank& me = ranks_[static_cast<std::size_t>(running_)];
  me.kind = kind;
  me.word = word;
  me.value = value;
  if (_setjmp(me.place) == 0) _longjmp(place_, 1);
  return me.result;
}

inline void Explorer::resume(int rank) {
  running_ = rank;
  if (_setjmp(place_) == 0) _longjmp(ranks_[static_cast<std::size_t>(rank)].place, 1);
}

/// Up to the first access of every rank.
inline void Explorer::start() {
  problem_.clear();
  reset_();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    rank.asleep = false;
    rank.history = rank.loaded = 0;
    rank.buffer.clear();
    running_ = static_cast<int>(r);
    if (_setjmp(place_) != 0) continue;
    if (rank.has_stack) _longjmp(rank.beginning, 1);
    rank.has_stack = true;
    getcontext(&rank.context);
    rank.context.uc_stack.ss_sp = rank.stack.data();
    rank.context.uc_stack.ss_size = rank.stack.size();
    rank.context.uc_link = nullptr;
    makecontext(&rank.context, reinterpret_cast<void (*)()>(enter), 1, static_cast<int>(r));
    swapcontext(&main_, &rank.context);
  }
}

/// What a load gives: the rank's own youngest store that nobody else sees yet, or the memory.
inline Explorer::Value Explorer::visible(const Rank& rank, const Value* word) const {
  for (auto store = rank.buffer.rbegin(); store != rank.buffer.rend(); ++store)
    if (store->word == word) return store->value;
  return *word;
}

inline bool Explorer::is_enabled(const Rank& rank) const {
  switch (rank.kind) {
    case Kind::done: return false;
    case Kind::load:
    case Kind::store:
    case Kind::resume: return true;
    case Kind::change: return visible(rank, rank.word) != rank.value;
    default: return !rank.asleep && rank.buffer.empty();
  }
}

inline bool Explorer::is_private(const Rank& rank) const {
  return rank.kind == Kind::resume || (rank.kind == Kind::store && store_buffers_);
}

/// What no other rank notices needs no other order (an ample set; Clarke, Grumberg and Peled 1999).
inline std::vector<int> Explorer::enabled() const {
  const int count = static_cast<int>(ranks_.size());
  for (int r = 0; r < count; ++r)
    if (is_private(ranks_[static_cast<std::size_t>(r)])) return {r};
  std::vector<int> actions;
  for (int r = 0; r < count; ++r) {
    const Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (is_enabled(rank)) actions.push_back(r);
    if (!rank.buffer.empty()) actions.push_back(count + r);
  }
  return actions;
}

inline bool Explorer::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.kind == Kind::done; });
}

inline void Explorer::access(Rank& rank) {
  Value& word = *rank.word;
  rank.result = 0;
  switch (rank.kind) {
    case Kind::load: rank.loaded = rank.result = visible(rank, rank.word); break;
    case Kind::change: break;
    case Kind::store:
      if (store_buffers_)
        rank.buffer.push_back({rank.word, rank.value});
      else
        word = rank.value;
      break;
    case Kind::exchange: rank.result = std::exchange(word, rank.value); break;
    case Kind::add:
      rank.result = word;
      word += rank.value;
      break;
    case Kind::sleep: rank.asleep = kBlind == rank.value || word == rank.value; break;
    case Kind::wake:
      for (Rank& other : ranks_) {
        if (!other.asleep || other.word != rank.word) continue;
        other.asleep = false;
        other.kind = Kind::resume;
        if (rank.value == kOnlyOne) break;
      }
      break;
    case Kind::resume:
    case Kind::done: break;
  }
}

inline void Explorer::act(int action) {
  const std::size_t count = ranks_.size(), a = static_cast<std::size_t>(action);
  Rank& rank = ranks_[a % count];
  if (a >= count) {
    *rank.buffer.front().word = rank.buffer.front().value;
    rank.buffer.pop_front();
    return;
  }
  access(rank);
  if (rank.asleep) return;
  rank.history = mixed(rank.history + 1, rank.result);
  resume(action);
}

inline Explorer::Value Explorer::state() const {
  Value hash = 1;
  for (const Value* word : words_) hash = mixed(hash, *word);
  for (const Rank& rank : ranks_) {
    hash = mixed(hash, rank.history);
    hash = mixed(hash, static_cast<Value>(rank.kind) * 2 + (rank.asleep ? 1 : 0));
    for (const Store& store : rank.buffer)
      hash = mixed(mixed(hash, reinterpret_cast<Value>(store.word)), store.value);
    hash = mixed(hash, rank.buffer.size());
  }
  return hash;
}

/// From where the path has led, on until a known state or the end. False: a problem.
inline bool Explorer::forward(std::vector<Choice>& path) {
  for (;;) {
    if (!problem_.empty()) return false;
    if (!seen_.insert(state()).second) return true;
    Choice choice{enabled()};
    if (choice.actions.empty()) {
      if (!all_done()) problem_ = "deadlock";
      return problem_.empty();
    }
    path.push_back(choice);
    for (const Rank& rank : ranks_)
      if (rank.word != nullptr) words_.insert(rank.word);
    act(choice.actions[0]);
  }
}

inline std::string Explorer::story(const std::vector<Choice>& path) const {
  std::string text;
  for (const Choice& choice : path) text += " " + std::to_string(choice.actions[choice.taken]);
  return text;
}

inline Explorer::Outcome Explorer::explore(int ranks, std::function<void()> reset,
                                           std::function<void(int)> body) {
  current = this;
  ranks_ = std::vector<Rank>(static_cast<std::size_t>(ranks));
  reset_ = std::move(reset);
  body_ = std::move(body);
  words_.clear();
  seen_.clear();
  std::vector<Choice> path;
  start();
  Outcome outcome;
  while (forward(path)) {
    while (!path.empty() && path.back().taken + 1 == path.back().actions.size()) path.pop_back();
    outcome.complete = seen_.size() < most_states_;
    if (path.empty() || !outcome.complete) break;
    ++path.back().taken;
    start();
    for (const Choice& choice : path) act(choice.actions[choice.taken]);
  }
  outcome.states = seen_.size();
  if (!problem_.empty()) outcome.problem = problem_ + ", after" + story(path);
  return outcome;
}

/// Ways of getting the protocol wrong.
enum class Flaw {
  none,
  plain_store,      ///< the change before the look for sleepers is no exchange
  no_registration,  ///< a sleeper tells nobody
  blind_sleep,      ///< the kernel does not compare before it lets sleep
  wakes_one,        ///< of several sleepers
};

/// Small, so that they wrap at once. With fewer cells than slots it is the cells that hold a rank
/// up, with more of them the slots.
struct Rings {
  unsigned cells = 2;
  unsigned slots = 3;
};

/// The memory of this layer's templates, explored.
template <Flaw kFlaw = Flaw::none, Rings kRings = Rings{}>
struct Explored {
  class Word {
   public:
    Word(std::uint64_t value = 0) : value_(value) {}
    std::uint64_t load(std::memory_order) { return go(Explorer::Kind::load); }
    void store(std::uint64_t value, std::memory_order) { go(Explorer::Kind::store, value); }
    std::uint64_t exchange(std::uint64_t value, std::memory_order) {
      constexpr bool plain = kFlaw == Flaw::plain_store;
      return go(plain ? Explorer::Kind::store : Explorer::Kind::exchange, value);
    }
    // Sleepers are counted in this order, and nothing else is.
    std::uint64_t fetch_add(std::uint64_t value, std::memory_order order) {
      const bool registers = order == std::memory_order_seq_cst;
      return go(Explorer::Kind::add, kFlaw == Flaw::no_registration && registers ? 0 : value);
    }
    std::uint64_t fetch_sub(std::uint64_t value, std::memory_order) {
      return go(Explorer::Kind::add, kFlaw == Flaw::no_registration ? 0 : -value);
    }
    std::uint64_t go(Explorer::Kind kind, std::uint64_t value = 0) {
      return Explorer::current->perform(kind, &value_, value);
    }

   private:
    std::uint64_t value_;
  };

  static constexpr unsigned kCells = kRings.cells;
  static constexpr unsigned kUses = kRings.slots;

  /// What the ranks have written past their caches, which nobody sees before the fence.
  inline static std::array<std::vector<std::pair<Word*, std::uint64_t>>, 4> streamed;
  static void fence() {
    auto& mine = streamed[static_cast<std::size_t>(Explorer::current->running())];
    for (const auto& [word, value] : std::exchange(mine, {}))
      word->go(Explorer::Kind::store, value);
  }

  class Pause {
   public:
    explicit Pause(const WaitPolicy& policy)
        : mode_(policy.mode), before_(Explorer::current->history()) {}
    // However long it has waited, only the last look matters.
    ~Pause() { Explorer::current->forget(mixed(before_, Explorer::current->last_loaded())); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    bool look_again(Word& word, std::uint64_t seen) {
      if (mode_ == WaitMode::sleep) return false;
      word.go(Explorer::Kind::change, seen);
      return true;
    }
    // Without a limit, which would hide a lost wake-up.
    void sleep(Word& word, std::uint64_t seen) {
      word.go(Explorer::Kind::sleep, kFlaw == Flaw::blind_sleep ? Explorer::kBlind : seen);
    }

   private:
    WaitMode mode_;
    Explorer::Value before_;
  };
  static void wake(Word& word) {
    word.go(Explorer::Kind::wake, kFlaw == Flaw::wakes_one ? Explorer::kOnlyOne : 0);
  }
};

}  // namespace unisono::node
