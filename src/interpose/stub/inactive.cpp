#include "interpose/stub/inactive.h"

#include <string_view>

#include "base/version.h"

namespace unisono::stub {
namespace {

const char* version() { return UNISONO_VERSION; }
int force(const char*, const char*) { return -1; }
const char* error() { return "Unisono is not active in this process"; }
int nothing() { return -1; }
void counts(unsigned long long* own, unsigned long long* native) { *own = *native = 0; }

}  // namespace

void* inactive_function(const char* name) {
  const std::string_view n = name;
  if (n == "unisono_version") return reinterpret_cast<void*>(version);
  if (n == "unisono_force") return reinterpret_cast<void*>(force);
  if (n == "unisono_error") return reinterpret_cast<void*>(error);
  if (n == "unisono_counts") return reinterpret_cast<void*>(counts);
  // Whatever their arguments are, they read none.
  if (n.starts_with("unisono_")) return reinterpret_cast<void*>(nothing);
  return nullptr;
}

}  // namespace unisono::stub
