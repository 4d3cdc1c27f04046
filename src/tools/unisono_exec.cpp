// unisono-exec [--] program [arguments]: runs a program with Unisono placed under it.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/version.h"

namespace {

constexpr const char* kHelp =
    "usage: unisono-exec [--] program [arguments]\n"
    "Runs an MPI program with Unisono placed under it. Use it after the launcher:\n"
    "  mpiexec -n 4 unisono-exec ./program arguments\n"
    "  mpiexec -n 4 unisono-exec python3 script.py\n"
    "UNISONO_DISABLE=1 runs the program on its MPI library alone.\n";

[[noreturn]] void fail(int status, const std::string& what) {
  std::fprintf(stderr, "unisono-exec: %s\n", what.c_str());
  std::exit(status);
}

/// The library to preload, found from where this program lies: bin/../lib, or as the prefix has it.
std::string library() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) fail(127, "cannot find out where I am: " + error.message());
  const auto beside = self.parent_path();
  std::string path = (beside.parent_path() / "lib/libunisono.so").string();
  if (const auto installed = beside / UNISONO_LIBRARIES "/libunisono.so";
      access(path.c_str(), R_OK) != 0)
    if (access(installed.c_str(), R_OK) == 0) path = installed.lexically_normal().string();
  if (access(path.c_str(), R_OK) != 0) fail(127, path + " cannot be read: " + std::strerror(errno));
  // The dynamic linker splits LD_PRELOAD there, and has no way to quote.
  if (path.find_first_of(" :") != path.npos)
    fail(127, "'" + path + "' has a space or colon in it and cannot be preloaded: move it");
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  int first = 1;
  if (first < argc && argv[first][0] == '-') {
    const std::string_view option = argv[first];
    if (option == "--help" || option == "-h") return std::fputs(kHelp, stdout), 0;
    if (option == "--version") return std::puts("unisono-exec " UNISONO_VERSION), 0;
    if (option != "--") fail(2, "unknown option " + std::string(option) + " (see --help)");
    ++first;
  }
  if (first >= argc) fail(2, "which program? (see --help)");

  std::string preload = library();
  if (const char* others = std::getenv("LD_PRELOAD"); others && *others)
    preload += std::string(":") + others;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  execvp(argv[first], argv + first);
  fail(errno == ENOENT ? 127 : 126, std::string(argv[first]) + ": " + std::strerror(errno));
}
