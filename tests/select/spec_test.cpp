#include "select/spec.h"

#include <gtest/gtest.h>

#include "base/config.h"

namespace unisono {
namespace {

TEST(Spec, NativeAndDefault) {
  const auto native = parse_spec(Collective::bcast, "native");
  ASSERT_TRUE(native);
  EXPECT_TRUE(native->is_native());
  const auto standard = parse_spec(Collective::bcast, "default");
  ASSERT_TRUE(standard);
  EXPECT_TRUE(standard->is_default);
  EXPECT_FALSE(standard->is_native());
}

TEST(Spec, ParametersHaveStandardValues) {
  const auto spec = parse_spec(Collective::bcast, "chain");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(spec->algorithm, find_algorithm(Collective::bcast, "chain"));
  EXPECT_EQ(spec->params, default_params(*spec->algorithm));
}

TEST(Spec, ReadsSizesAndNumbers) {
  const auto chain = parse_spec(Collective::bcast, "chain:segment=64K");
  ASSERT_TRUE(chain) << chain.error();
  EXPECT_EQ(chain->params.segment, 65536);
  const auto knomial = parse_spec(Collective::bcast, "knomial:radix=8");
  ASSERT_TRUE(knomial) << knomial.error();
  EXPECT_EQ(knomial->params.radix, 8);
  EXPECT_EQ(text(*knomial), "knomial:radix=8");
}

TEST(Spec, ReadsPredictedRanks) {
  const auto sorted = parse_spec(Collective::bcast, "sorted:late=5.7,segment=8K");
  ASSERT_TRUE(sorted) << sorted.error();
  EXPECT_EQ(*sorted->params.late, (std::vector{5, 7}));
  EXPECT_EQ(text(*sorted), "sorted:segment=8K,late=5.7");
  EXPECT_EQ(parse_spec(Collective::bcast, text(*sorted))->params, sorted->params);
  EXPECT_NE(parse_spec(Collective::bcast, "sorted:late=7.5")->params, sorted->params);
  const char* in_a_grid = "grid:shape=2x2,form=leaders,rows=sorted/segment=8K/late=1,columns=flat";
  EXPECT_EQ(text(*parse_spec(Collective::bcast, in_a_grid)), in_a_grid);
}

TEST(Spec, SaysWhatCarriesTheMessages) {
  const auto plain = parse_spec(Collective::bcast, "chain:segment=8K");
  const auto shared = parse_spec(Collective::bcast, "chain:transport=shm,segment=8K");
  ASSERT_TRUE(shared) << shared.error();
  EXPECT_EQ(plain->params.transport, TransportKind::mpi);
  EXPECT_EQ(shared->params.transport, TransportKind::shm);
  EXPECT_NE(shared->params, plain->params);
  EXPECT_EQ(text(*shared), "chain:segment=8K,transport=shm");
  EXPECT_EQ(text(*parse_spec(Collective::bcast, "flat:transport=shm")), "flat:transport=shm");
  EXPECT_EQ(text(*parse_spec(Collective::bcast, "flat:transport=mpi")), "flat");
  const char* grid = "grid:shape=2x2,form=leaders,rows=flat,columns=flat,transport=shm";
  for (const char* written : {grid, "grid:transport=shm"}) {
    const auto spec = parse_spec(Collective::bcast, written);
    ASSERT_TRUE(spec) << spec.error();
    EXPECT_EQ(spec->params.transport, TransportKind::shm);
    EXPECT_EQ(text(*spec), written);
  }
}

TEST(Spec, ASegmentMayBeLeftToTheModel) {
  const auto open = parse_spec(Collective::bcast, "circulant:segment=auto,window=2");
  ASSERT_TRUE(open) << open.error();
  EXPECT_EQ(open->params.segment, kOpenSegment);
  EXPECT_EQ(text(*open), "circulant:segment=auto,window=2");
  EXPECT_EQ(with_standard_segment(*open->algorithm, open->params).segment, 16384);
  EXPECT_EQ(with_standard_segment(*open->algorithm, open->params).window, 2);
  EXPECT_EQ(with_standard_segment(*open->algorithm, {.segment = 4096}).segment, 4096);
}

TEST(Spec, EveryRowRoundTrips) {
  for (const Algorithm& row : catalogue())
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (!contains(row.collectives, collective)) continue;
      for (const bool least : {true, false}) {
        Spec spec{.algorithm = &row, .params = default_params(row)};
        for (const Parameter& parameter : row.parameters)
          spec.params.*parameter.field = least ? parameter.least : parameter.most;
        const auto again = parse_spec(collective, text(spec));
        ASSERT_TRUE(again) << again.error();
        EXPECT_EQ(again->algorithm, &row);
        EXPECT_EQ(again->params, spec.params);
      }
    }
}

// What the user reads: the collective, what is wrong, and what would be right.
TEST(Spec, ErrorsNameWhatIsValid) {
  const struct {
    const char* text;
    const char* parts[3];
  } cases[] = {
      {"rings", {"bcast: no algorithm 'rings'", "native", "binomial"}},
      {"", {"bcast: no algorithm ''", "default", "chain"}},
      {"native:segment=4", {"bcast: native takes no parameters", "", ""}},
      {"flat:segment=4K", {"bcast: flat: no parameter 'segment'", "valid: transport (shm", ""}},
      {"shm:transport=shm", {"bcast: shm: no parameter 'transport'", "it takes none", ""}},
      {"flat:transport=tcp", {"bcast: flat: 'transport=tcp' is not valid", "shm", "mpi"}},
      {"grid:transport=tcp", {"bcast: grid: 'transport=tcp' is not valid", "", ""}},
      {"grid:rows=flat/transport=shm", {"transport= is the whole grid's", "", ""}},
      {"chain:segment", {"'segment' is not of the form parameter=value", "segment (1 to 1G", ""}},
      {"chain:", {"'' is not of the form parameter=value", "", ""}},
      {"chain:segment=4K,", {"'' is not of the form parameter=value", "", ""}},
      {"chain:segment=0", {"'segment=0' is not valid", "1 to 1G", "default 16K"}},
      {"knomial:radix=auto", {"'radix=auto' is not valid", "2 to 64", ""}},
      {"grid:columns=chain/segment=auto", {"segment=auto is not for a phase", "", ""}},
      {"chain:segment=-1", {"'segment=-1' is not valid", "1 to 1G or auto", ""}},
      {"chain:segment=big", {"'segment=big' is not valid", "", ""}},
      {"chain:segment=2G", {"'segment=2G' is not valid", "", ""}},
      {"knomial:radix=4K", {"'radix=4K' is not valid", "2 to 64", ""}},
      {"sorted:late=", {"'late=' is not valid", "the last rank", ""}},
      {"sorted:late=3.3", {"'late=3.3' is not valid", "different", ""}},
      {"sorted:late=-1", {"'late=-1' is not valid", "", ""}},
      {"sorted:late=1..2", {"'late=1..2' is not valid", "", ""}},
      {"sorted:late=99999999999", {"'late=99999999999' is not valid", "", ""}},
      {"sorted:radix=2", {"no parameter 'radix'", "late (ranks", ""}},
      {"chain:late=1", {"no parameter 'late'", "", ""}},
      {"knomial:radix=1", {"'radix=1' is not valid", "2 to 64", ""}},
      {"Chain", {"no algorithm 'Chain'", "", ""}},
  };
  for (const auto& bad : cases) {
    const auto spec = parse_spec(Collective::bcast, bad.text);
    ASSERT_FALSE(spec) << bad.text;
    for (const char* part : bad.parts)
      EXPECT_NE(spec.error().find(part), std::string::npos) << spec.error();
    EXPECT_EQ(spec.error().find('\n'), std::string::npos);
  }
}

TEST(Config, EveryCollectiveHasItsVariable) {
  for (const Semantics& collective : kSemantics) {
    int rows = 0;
    for (const Variable& row : kVariables)
      rows += row.name == variable_of_collective(collective.name);
    EXPECT_EQ(rows, 1) << collective.name;
  }
}

}  // namespace
}  // namespace unisono
