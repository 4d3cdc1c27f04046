// include/unisono/unisono.h
#include <cstring>
#include <string>

#include "base/version.h"
#include "interpose/api.h"
#include "interpose/dispatch.h"
#include "runtime/engine.h"
#include "unisono/unisono.h"

namespace {

// Without a destructor, so that it can be asked for in the program's exit handlers as well.
thread_local char t_error[1024];

}  // namespace

int unisono::fail_with(const std::string& text) {
  t_error[text.copy(t_error, sizeof t_error - 1)] = '\0';
  return -1;
}

extern "C" {

const char* unisono_version(void) { return UNISONO_VERSION; }

int unisono_force(const char* collective, const char* spec) try {
  using namespace unisono;
  if (collective == nullptr || spec == nullptr) return fail_with("collective or spec is NULL");
  const auto named = collective_named(collective);
  if (!named) {
    std::string text = std::string(collective) + ": no such collective; valid are";
    for (const auto valid : kCollectiveNames) text += " " + std::string(valid);
    return fail_with(text);
  }
  const auto result = Engine::instance().force(*named, spec);
  if (!result) return fail_with(result.error());
  set_candidates();
  return 0;
} catch (...) {
  std::strcpy(t_error, "no memory");
  return -1;
}

const char* unisono_error(void) { return t_error; }

void unisono_counts(unsigned long long* own, unsigned long long* native) {
  *own = unisono::g_own_calls.load(std::memory_order_relaxed);
  *native = unisono::g_native_calls.load(std::memory_order_relaxed);
}

}  // extern "C"
