// unisono-multicast: the reliable multicast of src/multicast, without MPI. Started on every host.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "base/version.h"
#include "tools/multicast/options.h"

namespace unisono::multicast {

namespace {

void add_where(CLI::App& app, Where& where) {
  app.add_option("--hosts", where.hosts, "address of each member, separated by commas")
      ->delimiter(',');
  app.add_option("--interface", where.interface, "of this host: name or address");
  app.add_option("--group-address", where.group_address, "of the group (239.255.77.1)");
  app.add_option("--port", where.port, "of the group; each member also has the next one (7700)")
      ->check(CLI::Range(1, 65534));
  app.add_option("--secret", where.secret, "32 or 64 hexadecimal digits");
  app.add_option("--group", where.group, "its number (1)");
  app.add_option("--epoch", where.epoch, "its number (1)");
}

/// MEMBER:SECONDS
void add_fate(CLI::App& app, const char* name, Fate& fate, const char* what) {
  app.add_option_function<std::string>(
      name,
      [&fate, name](const std::string& text) {
        char rest = 0;
        if (std::sscanf(text.c_str(), "%d:%lf%c", &fate.member, &fate.seconds, &rest) != 2 ||
            fate.seconds < 0)
          throw CLI::ValidationError(std::string(name) + " " + text + ": write MEMBER:SECONDS");
      },
      what);
}

void add_run(CLI::App& app, RunOptions& options, int& result) {
  auto* command =
      app.add_subcommand("run", "send and receive; the first member prints what it took");
  add_where(*command, options.where);
  command->get_option("--hosts")->required();
  command->add_option("--me", options.me, "which of the hosts this is: 0, 1, ...")->required();
  command->add_option("--family", options.family, "ack, nack (nack)")
      ->check(CLI::IsMember({"ack", "nack"}));
  command->add_option("--fan-out", options.fan_out, "of the tree of nack (4)");
  command->add_option("--messages", options.messages, "how many (10)")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--size", options.size, "of each, as in 64K (1M)");
  command->add_option("--root", options.root, "who sends; -1: all in turn (0)");
  command->add_option("--rate", options.rate, "bits per second of this host (1e8)");
  command->add_option("--loss", options.loss, "share of the packets that vanish here (0)")
      ->check(CLI::Range(0.0, 0.99));
  command->add_option("--round-trip", options.round_trip_ms,
                      "ms that a packet and its answer take (2)");
  command->add_option("--limit", options.limit_seconds,
                      "seconds of silence after which a member is given up; 0: never (10)");
  command->add_option("--copied", options.copied,
                      "messages up to this are copied, and not waited for (0)");
  command->add_option("--seed", options.seed, "of --loss and of timers (1)");
  add_fate(*command, "--late", options.late, "MEMBER:SECONDS: it begins so much later");
  add_fate(*command, "--kill", options.killed, "MEMBER:SECONDS: it kills itself after that");
  command->callback([&] {
    const int members = static_cast<int>(options.where.hosts.size());
    if (options.me < 0 || options.me >= members || options.root < -1 || options.root >= members)
      throw CLI::ValidationError("--me and --root: members are 0 to " +
                                 std::to_string(members - 1));
    result = run(options);
  });
}

void add_attack(CLI::App& app, AttackOptions& options, int& result) {
  auto* command = app.add_subcommand(
      "attack",
      "send forged, replayed, stale, truncated and wrong-epoch packets to a run under way");
  add_where(*command, options.where);
  command->get_option("--interface")->required();
  command->add_option("--count", options.count, "of each kind (100000)")
      ->check(CLI::Range(1, 1 << 30));
  command->callback([&] { result = attack(options); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reliable multicast among hosts, by itself");
  app.set_version_flag("--version", "unisono-multicast " UNISONO_VERSION);
  app.require_subcommand(1);
  RunOptions run_options;
  AttackOptions attack_options;
  int result = 0;
  add_run(app, run_options, result);
  add_attack(app, attack_options, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "unisono-multicast: %s\n", error.what());
    return 2;
  }
  return result;
}

}  // namespace unisono::multicast

int main(int argc, char** argv) { return unisono::multicast::main(argc, argv); }
