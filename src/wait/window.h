// How long a rank that shares its core polls, that is, looks and yields in turn, before it sleeps.
// Nothing here reads a clock: what yields and sleeps cost on this machine is told by who does them.
//
// A yield while nobody else wants the core is a system call, and one while somebody does gives the
// core to that one: so what polling costs is counted in yields, however long each of them takes.
// The budget is what a sleep and its wake-up cost, which is at most twice what a rank pays that
// knows when the word will come; as long as sleeps turn out to have ended soon, some times as much.
// Sources: Karlin et al. 1991 (spin or block), KVM's halt polling (windows that grow and shrink).
#pragma once
#include <chrono>

namespace unisono::wait {

using Time = std::chrono::nanoseconds;

/// A yield that took less than as many of the shortest has returned at once: a change to another
/// process and back takes longer.
inline constexpr int kYieldsPerChange = 8;

/// What it costs to sleep and to be woken.
class SleepCost {
 public:
  bool is_known() const { return cost_ != Time::max(); }
  /// 0: not known.
  Time cost() const { return is_known() ? cost_ : Time(0); }
  /// A sleep that nobody ended lasted so much longer than it was to. Single ones may because others
  /// run, and may seem to be early because the timers of several fell together.
  void overran(Time by);

 private:
  Time cost_ = Time::max();
};

/// One wait, up to now.
struct Polled {
  int yields = 0;
  Time lasted{0};  ///< of looks and yields
};

/// Of the waits of one kind, by one thread.
class Window {
 public:
  /// A wait begins: how long it looks again at once before it first yields. What it waits for may
  /// come from another core in less time than it takes to give the core away and to get it back.
  Time at_once();
  /// Whether what it waited for came in that time.
  void looked_at_once(bool came);
  /// The rank yields no more, but sleeps.
  bool has_passed(const Polled& wait, const SleepCost& sleep) const;
  /// A yield, and the look before it, took so long.
  void yielded(Time took);
  /// A wait is over after all, which has slept, and lasted so long with its sleeps.
  void slept(const Polled& wait, Time lasted, const SleepCost& sleep);

 private:
  /// Yields that cost as much as so many sleeps.
  double yields_of(int sleeps, const SleepCost& sleep) const;

  // What the polling of a wait may cost, in sleeps. Four ranks on two cores that compute for 50 to
  // 250 us lose without it what native ranks gain that yield for ever; with more nothing was
  // gained.
  static constexpr int kMostSleeps = 8;
  // Others on the core may have work to do meanwhile, so that two of three waits must end at once.
  // As many waits are remembered.
  static constexpr int kMostAtOnce = 8;

  Time yield_ = Time::max();  // the shortest: nobody else wanted the core
  int sleeps_ = kMostSleeps;  // that the polling of the next wait may cost
  int came_at_once_ =
      kMostAtOnce;      // rises with waits that ended before a yield, and falls with others
  unsigned waits_ = 0;  // that yielded first, since nothing came at once before
};

}  // namespace unisono::wait
