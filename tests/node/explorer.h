// Runs a few ranks through every interleaving of their accesses to shared words.
//
// A rank is a coroutine (ucontext, and setjmp once it runs, which costs no system call) that stops
// before each access; the explorer chooses who goes on, depth first: before a choice it keeps a
// copy of the shared memory and of the ranks' stacks, and puts it back to go on with another
// choice. So what a rank does may hold nothing on the heap that changes. A state is what the words
// hold and what each rank has read so far, for that is all its next step depends on; a state that
// was met before is not gone into again. A fruitless look in a loop blocks the rank until the word
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
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
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

  /// `memory` is what the ranks share, ready for them; `body` is what a rank does.
  Outcome explore(int ranks, std::span<std::byte> memory, std::function<void(int)> body);

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
  /// By this rank.
  Value last_loaded() const { return ranks_[static_cast<std::size_t>(running_)].loaded; }

  inline static Explorer* current = nullptr;

 private:
  struct Store {
    Value* word;
    Value value;
  };
  struct Rank {
    jmp_buf place;
    const std::byte* low = nullptr;  ///< of the stack: what is below is not in use
    Kind kind = Kind::done;
    Value* word = nullptr;
    Value value = 0, result = 0;
    bool asleep = false;
    Value history = 0, loaded = 0;
    std::vector<Store> buffer;
  };
  using Stack = std::vector<std::byte>;
  /// What the ranks have done so far.
  struct Snapshot {
    std::vector<Rank> ranks;
    std::vector<std::byte> bytes;  ///< of the shared memory, then of each stack
  };
  struct Choice {
    std::vector<int> actions;  ///< a rank goes on; or, ranks_.size() + r: r's oldest store arrives
    Snapshot before;           ///< where there is more than one
    std::size_t taken = 0;
  };

  static void enter(int rank);
  void start(int rank);
  Snapshot snapshot() const;
  void put_back(const Snapshot& before);
  void resume(int rank);
  void act(int action);
  void access(Rank& rank);
  Value visible(const Rank& rank, const Value* word) const;
  std::vector<int> enabled() const;
  bool is_enabled(const Rank& rank) const;
  bool all_done() const;
  Value state() const;
  bool forward(std::vector<Choice>& path);
  std::string story(const std::vector<Choice>& path) const;

  bool store_buffers_;
  std::size_t most_states_;
  std::span<std::byte> memory_;
  std::function<void(int)> body_;
  jmp_buf place_;
  std::vector<Rank> ranks_;
  std::vector<Stack> stacks_;
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
  current->body_(rank);
  current->perform(Kind::done, nullptr);
}

[[gnu::noinline]] inline Explorer::Value Explorer::perform(Kind kind, Value* word, Value value) {
  constexpr std::ptrdiff_t kOwnFrame = 1024;  // more than this function has
  Rank& me = ranks_[static_cast<std::size_t>(running_)];
  me.low = static_cast<const std::byte*>(__builtin_frame_address(0)) - kOwnFrame;
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

/// Up to its first access.
inline void Explorer::start(int rank) {
  Stack& stack = stacks_[static_cast<std::size_t>(rank)];
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack.data();
  context.uc_stack.ss_size = stack.size();
  context.uc_link = nullptr;
  makecontext(&context, reinterpret_cast<void (*)()>(enter), 1, rank);
  running_ = rank;
  if (_setjmp(place_) == 0) setcontext(&context);
}

inline Explorer::Snapshot Explorer::snapshot() const {
  Snapshot now{ranks_, {memory_.begin(), memory_.end()}};
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    now.bytes.insert(now.bytes.end(), ranks_[r].low, stacks_[r].data() + stacks_[r].size());
  return now;
}

inline void Explorer::put_back(const Snapshot& before) {
  ranks_ = before.ranks;
  auto from = before.bytes.begin() + static_cast<std::ptrdiff_t>(memory_.size());
  std::copy(before.bytes.begin(), from, memory_.begin());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto used = stacks_[r].data() + stacks_[r].size() - ranks_[r].low;
    std::copy_n(from, used, stacks_[r].end() - used);
    from += used;
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

inline std::vector<int> Explorer::enabled() const {
  std::vector<int> actions;
  const int count = static_cast<int>(ranks_.size());
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
    rank.buffer.erase(rank.buffer.begin());
    return;
  }
  words_.insert(rank.word);
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
    Choice choice{enabled(), {}};
    if (choice.actions.empty()) {
      if (!all_done()) problem_ = "deadlock";
      return problem_.empty();
    }
    if (choice.actions.size() > 1) choice.before = snapshot();
    path.push_back(std::move(choice));
    act(path.back().actions[0]);
  }
}

inline std::string Explorer::story(const std::vector<Choice>& path) const {
  std::string text;
  for (const Choice& choice : path) text += " " + std::to_string(choice.actions[choice.taken]);
  return text;
}

inline Explorer::Outcome Explorer::explore(int ranks, std::span<std::byte> memory,
                                           std::function<void(int)> body) {
  current = this;
  ranks_ = std::vector<Rank>(static_cast<std::size_t>(ranks));
  stacks_.assign(ranks_.size(), Stack(128 << 10));
  memory_ = memory;
  body_ = std::move(body);
  words_.clear();
  seen_.clear();
  problem_.clear();
  std::vector<Choice> path;
  for (int rank = 0; rank < ranks; ++rank) start(rank);
  Outcome outcome;
  while (forward(path)) {
    while (!path.empty() && path.back().taken + 1 == path.back().actions.size()) path.pop_back();
    outcome.complete = seen_.size() < most_states_;
    if (path.empty() || !outcome.complete) break;
    Choice& last = path.back();
    put_back(last.before);
    act(last.actions[++last.taken]);
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
  static constexpr unsigned kSlots = kRings.slots;

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
