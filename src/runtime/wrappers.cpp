#include "runtime/wrappers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "schedule/semantics.h"

namespace unisono {

namespace {

using Names = std::set<std::string_view>;

/// Before the address of a table is in memory it is one from the start of the object.
const char* at(const dl_phdr_info& object, ElfW(Addr) address) {
  const ElfW(Addr) base = object.dlpi_addr;
  return reinterpret_cast<const char*>(address < base ? base + address : address);
}

/// Of the main program, which comes first: functions that it calls and does not define. Symbols
/// that are in no hash table come first, and these are.
int add_imports(dl_phdr_info* object, std::size_t /*bytes*/, void* names) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  const char *symbols = nullptr, *strings = nullptr, *hash = nullptr;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = at(*object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) strings = at(*object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) hash = at(*object, entry->d_un.d_ptr);
  }
  if (symbols == nullptr || strings == nullptr || hash == nullptr) return 1;
  const std::uint32_t first_in_table = reinterpret_cast<const std::uint32_t*>(hash)[1];
  const auto* symbol = reinterpret_cast<const ElfW(Sym)*>(symbols);
  for (std::uint32_t i = 1; i < first_in_table; ++i)
    static_cast<Names*>(names)->insert(strings + symbol[i].st_name);
  return 1;  // the others are no programs
}

/// What the dynamic linker finds first. By name: which of our libraries it is, does not matter.
bool is_found_elsewhere(const std::string& function) {
  Dl_info found{};
  void* const address = dlsym(RTLD_DEFAULT, function.c_str());
  if (address == nullptr || dladdr(address, &found) == 0) return false;
  const std::string_view file(found.dli_fname);
  return !file.substr(file.rfind('/') + 1).starts_with("libunisono");
}

}  // namespace

// Not every linker lets others see what the program defines: who calls PMPI's is a profiler, too.
unsigned long long wrapped_collectives() {
  Names imports;
  dl_iterate_phdr(add_imports, &imports);
  unsigned long long wrapped = 0;
  for (const Semantics& row : kSemantics) {
    std::string function = "PMPI_" + std::string(row.name);
    function[5] = static_cast<char>(std::toupper(function[5]));
    if (imports.contains(function) || is_found_elsewhere(function.substr(1)))
      wrapped |= 1ULL << static_cast<unsigned>(row.collective);
  }
  return wrapped;
}

}  // namespace unisono
