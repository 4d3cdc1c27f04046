#include "algorithms/catalogue.h"

#include "algorithms/algorithms.h"

namespace unisono {

namespace {

using enum Collective;
using enum Order;

constexpr Count kMaxSegment = Count{1} << 30;

constexpr std::span<const Parameter> kNoParameters;
constexpr Parameter kSegment[] = {
    {"segment", &Params::segment, 16384, 1, kMaxSegment, true, "bytes of a pipeline segment"}};
constexpr Parameter kSegmentAndWindow[] = {
    kSegment[0], {"window", &Params::window, 4, 1, 64, false, "segments or rounds under way"}};
// Of the order of a short message's time on Ethernet; not tuned.
constexpr Parameter kSegmentAndPause[] = {
    kSegment[0],
    {"pause", &Params::pause, 100, 0, 1000000, false, "us from a set's first rank to its chain"}};
constexpr Parameter kBlockSegment[] = {{"segment", &Params::segment, 262144, 1, kMaxSegment, true,
                                        "bytes of a pipeline segment within a block"}};
constexpr Parameter kWindow[] = {
    {"window", &Params::window, 4, 1, 64, false, "messages under way"}};
constexpr Parameter kBlockSegmentAndWindow[] = {kBlockSegment[0], kSegmentAndWindow[1]};
constexpr Parameter kGrants[] = {
    {"window", &Params::window, 2, 1, 64, false, "blocks asked for and not yet there"}};
// So few bytes that no queue on the way overflows: 32K; yet the next are on their way in time.
constexpr Parameter kGrantedSegments[] = {
    kSegment[0],
    {"window", &Params::window, 2, 1, 64, false, "segments asked for and not yet there"}};
// 96K: a port of a small switch holds that, and a gigabit's credit needs no more for its way.
constexpr Parameter kCredits[] = {
    {"segment", &Params::segment, 8192, 1, kMaxSegment, true, "bytes of a segment"},
    {"window", &Params::window, 12, 1, 64, false, "segments asked for and not yet there, in all"}};
constexpr Parameter kTurns[] = {{"window", &Params::window, 1, 1, 64, false, "blocks under way"}};
constexpr Parameter kMessagesPerStep[] = {
    {"radix", &Params::radix, 2, 2, 64, false, "messages per step, plus one"}};
constexpr Parameter kRadix[] = {
    {"radix", &Params::radix, 4, 2, 64, false, "children per level of the tree, plus one"}};

constexpr Parameter kSegmentAndGroup[] = {
    kSegment[0], {"radix", &Params::radix, 4, 1, 64, false, "ranks in a chain of the tree"}};
constexpr Parameter kSegmentGroupAndWindow[] = {kSegment[0], kSegmentAndGroup[1],
                                                kSegmentAndWindow[1]};
constexpr Parameter kRunSegment[] = {
    {"segment", &Params::segment, 0, 0, kMaxSegment, true,
     "bytes of a pipeline segment of a message; 0: messages are whole"}};
constexpr Parameter kRadixAndRunSegment[] = {kRadix[0], kRunSegment[0]};
constexpr Parameter kRow[] = {
    {"radix", &Params::radix, 0, 0, 1 << 20, false, "ranks in a row; 0: with the fewest messages"}};

// Many short ones: the trees are deep, and hops on a torus are short.
constexpr Parameter kTreesAndSegment[] = {
    {"trees", &Params::trees, 0, 0, kTreeKindNames.size() - 1, false,
     "over the hosts of the torus: see [tori](guide/tori.md)", kTreeKindNames},
    {"segment", &Params::segment, 4096, 1, kMaxSegment, true, "bytes of a pipeline segment"}};
constexpr Parameter kTreesSegmentAndWindow[] = {
    kTreesAndSegment[0],
    kTreesAndSegment[1],
    {"window", &Params::window, 16, 1, 64, false, "segments of a tree under way"}};

constexpr Parameter kThreshold[] = {
    {"threshold", &Params::threshold, 1024, 0, kMaxSegment, true,
     "bytes; when all that is left is shorter, it goes in one phase"}};

constexpr std::string_view kPhased = "Karwande, Yuan, Lowenthal 2003";
constexpr std::string_view kTwoTree = "Sanders, Speck, Traeff 2009";
constexpr std::string_view kFractional = "Sanders, Sibeyn 2000";
constexpr std::string_view kTorusTrees = "Mittal et al. 2012; own trees";
constexpr std::string_view kOrthogonal = "Kuehnemann, Rauber, Ruenger 2004";
// The rows of src/node: it copies into and out of shared memory, and no message is sent. Where the
// ranks read from each other in an order that no schedule has, the nearest one is the model.
constexpr std::string_view kShm = "shm";
constexpr std::string_view kLevels = "two levels, as in XHC (Katevenis et al. 2022)";
constexpr std::string_view kSingleCopy = "cross memory attach; own slices";
constexpr std::string_view kCompiled = "Karwande, Yuan, Lowenthal 2003";
constexpr std::string_view kBine = "De Sensi et al. 2025";
constexpr std::string_view kSwing = "De Sensi et al. 2024";
constexpr std::string_view kBucket = "Jain, Sabharwal 2010";
constexpr std::string_view kTrivance = "own; after the abstract of Juerss, Addanki, Schmid 2026";
constexpr std::string_view kFlags = "flags with one writer, as in Open MPI's XHC";

constexpr Combining kMoves;

/// The order of a row's sums, and what else it depends on.
constexpr Combining in(Order order, unsigned depends_on = 0) { return {order, depends_on}; }

constexpr Algorithm kCatalogue[] = {
    {set_of(bcast), "flat", bcast::flat, kNoParameters, kNone, "1 round, (p-1) m at the root",
     "textbook"},
    {set_of(bcast), "binomial", bcast::binomial, kNoParameters, kNone, "q rounds of m", "textbook"},
    {set_of(bcast), "knomial", bcast::knomial, kRadix, kNone,
     "ceil(log_k p) levels, (k-1) m each at the root", "textbook; radix as in MPICH"},
    {set_of(bcast), "chain", bcast::chain, kSegment, kNone, "p-2+n rounds of m/n",
     "Worringer 2003"},
    {set_of(bcast), "scatter_allgather", bcast::scatter_allgather, kNoParameters, kNone,
     "q+p-1 rounds, 2(p-1)/p m", "van de Geijn 1994"},
    {set_of(bcast), "circulant", bcast::circulant, kSegmentAndWindow, kNone, "n-1+q rounds of m/n",
     "Traeff 2022"},
    {set_of(bcast), "two_tree", bcast::two_tree, kSegmentAndWindow, kNone,
     "n-1+2(1+log2 p) rounds of m/n", kTwoTree},
    {set_of(bcast), "fractional_tree", bcast::fractional_tree, kSegmentAndGroup, kNone,
     "about (1+1/r)(n+2r log2(p/r)) rounds of m/n", kFractional},
    {set_of(bcast), "announced", bcast::announced, kNoParameters, kNone,
     "2 rounds, (p-1) m at the root, to whoever has arrived",
     "own; tokens as in Patarasuk, Yuan 2008"},
    {set_of(bcast), "arrival_chain", bcast::arrival_chain, kSegmentAndPause, kBindsPeers,
     "counted with all waiting: p-2+n rounds of m/n after 2(p-1) tokens; n alone for a late rank",
     "Patarasuk, Yuan 2008"},
    {set_of(bcast), "sorted", bcast::sorted, kSegment, kPredicts,
     "p-2+n rounds of m/n; n after the last arrival", "own; order as in Proficz 2018"},
    {set_of(bcast), "bine", bcast::bine, kNoParameters, kNone, "q rounds of m; short ways", kBine},
    {set_of(bcast), "grid", bcast::grid, kNoParameters, kComposed,
     "columns, then rows; lanes: about 2 m a rank", kOrthogonal},
    {set_of(bcast), "torus", bcast::torus, kTreesAndSegment, kTorus,
     "d+n rounds of m/(t n) over t trees, d deep", kTorusTrees},
    {set_of(bcast), "multicast", bcast::multicast, kNoParameters, kMulticast,
     "1 round of m, sent once to all", kCompiled},
    {set_of(bcast), kShm, bcast::flat, kNoParameters, kOneNode,
     "m copied in at the root, then out by all others", kFlags},
    {set_of(bcast), "shm_pipeline", bcast::flat, kNoParameters, kOneNode,
     "m copied in at the root, then out by all others, a slot at a time", kFlags},
    {set_of(bcast), "shm_levels", bcast::binomial, kNoParameters, kOneNode,
     "up to 112 bytes: 3 steps, a line read by the ranks of a group each", kLevels},
    {set_of(bcast), "shm_direct", bcast::scatter_allgather, kNoParameters, kOneNode,
     "2 steps, m copied once by each of the others", kSingleCopy},

    {set_of(reduce), "flat", reduce::flat, kWindow, kNone, "1 round, (p-1) m at the root",
     "textbook", in(left, kOnRoot)},
    {set_of(reduce), "binomial", reduce::binomial, kNoParameters, kNone, "q rounds of m",
     "textbook", in(halves, kOnRoot)},
    {set_of(reduce), "knomial", reduce::knomial, kRadix, kNone,
     "ceil(log_k p) levels, (k-1) m each at the root", "textbook; radix as in MPICH",
     in(own, kOnRoot | kOnRadix)},
    {set_of(reduce), "chain", reduce::chain, kSegmentAndWindow, kNone, "p-2+n rounds of m/n",
     "Worringer 2003", in(right, kOnRoot)},
    {set_of(reduce), "reduce_scatter_gather", reduce::reduce_scatter_gather, kNoParameters,
     kCommutative, "2q rounds, 2(p-1)/p m", "Rabenseifner 2004", in(own, kOnRoot | kOnPlace)},
    {set_of(reduce), "circulant", reduce::circulant, kSegmentAndWindow, kCommutative,
     "n-1+q rounds of m/n", "Traeff 2022", in(own, kOnRoot | kOnPlace | kOnSegment)},
    {set_of(reduce), "two_tree", reduce::two_tree, kSegmentAndWindow, kNone,
     "n-1+2(1+log2 p) rounds of m/n", kTwoTree, in(own, kOnRoot | kOnPlace | kOnSegment)},
    {set_of(reduce), "fractional_tree", reduce::fractional_tree, kSegmentGroupAndWindow,
     kCommutative, "about (1+1/r)(n+2r log2(p/r)) rounds of m/n", kFractional,
     in(own, kOnRoot | kOnPlace | kOnSegment | kOnRadix)},
    {set_of(reduce), "sorted", reduce::sorted, kSegmentAndWindow, kCommutative | kPredicts,
     "p-2+n rounds of m/n; n+1 after the last arrival", "Proficz 2018", in(own, kOnRoot | kOnLate)},
    {set_of(reduce), "bine", reduce::bine, kNoParameters, kNone, "q rounds of m; short ways", kBine,
     in(own, kOnRoot)},
    {set_of(reduce), "grid", reduce::grid, kNoParameters, kComposed,
     "rows, then columns; lanes: about 2 m a rank", kOrthogonal, in(own, kOnRoot | kOnGrid)},
    {set_of(reduce), "torus", reduce::torus, kTreesSegmentAndWindow, kTorus,
     "d+n rounds of m/(t n) over t trees, d deep", kTorusTrees,
     in(own, kOnRoot | kOnPlace | kOnTrees | kOnTorus)},
    {set_of(reduce), kShm, reduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied in, m read and reduced; (p-1)/p m out at the root",
     "own; direct slices", in(left)},
    {set_of(reduce), "shm_read_all", reduce::read_all, kNoParameters, kOneNode,
     "1 step: m copied in; (p-1) m read and reduced at the root", kFlags, in(left)},
    {set_of(reduce), "shm_slices", reduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied in, m read and reduced; (p-1)/p m out at the root",
     "own; direct slices", in(left)},
    {set_of(reduce), "shm_levels", reduce::read_all, kNoParameters, kOneNode,
     "up to 112 bytes: 2 steps, m from each rank of a group and of each group", kLevels, in(left)},
    {set_of(reduce), "shm_direct", reduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied once and reduced by each, m written to the root", kSingleCopy,
     in(left)},

    {set_of(allreduce), "recursive_doubling", allreduce::recursive_doubling, kNoParameters, kNone,
     "q rounds of m (2 more to fold)", "Thakur, Rabenseifner, Gropp 2005", in(folded)},
    {set_of(allreduce), "rabenseifner", allreduce::rabenseifner, kNoParameters, kNone,
     "2q rounds, 2(p-1)/p m (2 rounds, 2 m more to fold)", "Rabenseifner 2004", in(folded)},
    {set_of(allreduce), "ring", allreduce::ring, kBlockSegment, kCommutative,
     "2(p-1) rounds, 2(p-1)/p m", "Patarasuk, Yuan 2009", in(own, kOnPlace)},
    {set_of(allreduce), "circulant", allreduce::circulant, kNoParameters, kCommutative,
     "2q rounds, 2(p-1)/p m", "Traeff 2024", in(own, kOnPlace)},
    {set_of(allreduce), "reduce_bcast", allreduce::reduce_bcast, kNoParameters, kNone,
     "2q rounds of m", "textbook", in(halves)},
    {set_of(allreduce), "chain", allreduce::chain, kSegmentAndWindow, kNone,
     "2(p-2+n) rounds of m/n", "Worringer 2003", in(right)},
    {set_of(allreduce), "pipeline", allreduce::pipeline, kSegmentAndWindow, kNone,
     "2(p+n) rounds of m/n", "Worringer 2003", in(right)},
    {set_of(allreduce), "dual_root", allreduce::dual_root, kSegmentAndWindow, kNone,
     "about 3n+4 log2 p rounds of m/n", "Traeff 2021", in(own)},
    {set_of(allreduce), "sorted", allreduce::sorted, kSegmentAndWindow, kCommutative | kPredicts,
     "2(n+p-1) rounds of m/n; n+p-1 after the last arrival", "Proficz 2018", in(own, kOnLate)},
    {set_of(allreduce), "pre_reduced_ring", allreduce::pre_reduced_ring, kSegmentAndWindow,
     kCommutative | kPredicts, "about 3 m; n+n/p+p rounds of m/n after the last arrival",
     "after Proficz 2018", in(own, kOnPlace | kOnLate)},
    {set_of(allreduce), "straggler", allreduce::straggler, kBlockSegmentAndWindow,
     kCommutative | kPredicts, "about 2 m; p-1+q rounds of m/(p-1) after the last arrival",
     "own; after StragglAR 2025, Traeff 2022", in(own, kOnPlace | kOnLate)},
    {set_of(allreduce), "bine", allreduce::bine, kNoParameters, kCommutative,
     "2q rounds, 2(p-1)/p m (2 rounds, 2 m more to fold); short ways", kBine, in(own, kOnPlace)},
    {set_of(allreduce), "bine_whole", allreduce::bine_whole, kNoParameters, kCommutative,
     "q rounds of m (2 more to fold); short ways", kBine, in(own)},
    {set_of(allreduce), "swing", allreduce::swing, kNoParameters, kTorus | kCommutative,
     "2q rounds, 2(p-1)/p m over all links of a torus (2 rounds, 2 m more to fold)", kSwing,
     in(own, kOnPlace | kOnTorus)},
    {set_of(allreduce), "swing_whole", allreduce::swing_whole, kNoParameters, kTorus | kCommutative,
     "q rounds of m over all links of a torus (2 more to fold)", kSwing,
     in(own, kOnPlace | kOnTorus)},
    {set_of(allreduce), "bucket", allreduce::bucket, kBlockSegment, kTorus | kCommutative,
     "2 sum(n_i-1) rounds, 2(p-1)/p m over all links of a torus", kBucket,
     in(own, kOnPlace | kOnTorus)},
    {set_of(allreduce), "trivance", allreduce::trivance, kNoParameters, kTorus | kCommutative,
     "2 log3 p rounds, 2(p-1)/p m over all links of a torus (2 rounds, 2 m more to fold)",
     kTrivance, in(own, kOnPlace | kOnTorus)},
    {set_of(allreduce), "trivance_whole", allreduce::trivance_whole, kNoParameters,
     kTorus | kCommutative, "sum(ceil(log3 n_i)) rounds of 2 m over all links of a torus",
     kTrivance, in(own, kOnTorus)},
    {set_of(allreduce), "grid", allreduce::grid, kNoParameters, kComposed,
     "full: rows, then columns of m; lanes: 2(p-1)/p m", kOrthogonal, in(own, kOnGrid)},
    {set_of(allreduce), "torus", allreduce::torus, kTreesSegmentAndWindow, kTorus,
     "2d+n rounds of m/(t n) over t trees each way, d deep", kTorusTrees,
     in(own, kOnTrees | kOnTorus)},
    {set_of(allreduce), kShm, allreduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied in, m read and reduced; (p-1)/p m out", "own; direct slices",
     in(left)},
    {set_of(allreduce), "shm_read_all", allreduce::read_all, kNoParameters, kOneNode,
     "1 step: m copied in, (p-1) m read and reduced", kFlags, in(left)},
    {set_of(allreduce), "shm_slices", allreduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied in, m read and reduced; (p-1)/p m out", "own; direct slices",
     in(left)},
    {set_of(allreduce), "shm_last_arriver", allreduce::last_arriver, kNoParameters, kOneNode,
     "ranks that sleep: 1 step, m copied in, p m reduced by the last, m out", "own; last arriver",
     in(left)},
    {set_of(allreduce), "shm_levels", allreduce::read_all, kNoParameters, kOneNode,
     "up to 112 bytes: 3 steps, m from each rank of a group and of each group", kLevels, in(left)},
    {set_of(allreduce), "shm_direct", allreduce::slices, kNoParameters, kOneNode,
     "2 steps: (p-1)/p m copied once and reduced, (p-1)/p m written to others", kSingleCopy,
     in(left)},

    {set_of(reduce_scatter, reduce_scatter_block), "ring", reduce_scatter::ring, kBlockSegment,
     kCommutative, "p-1 rounds, (p-1)/p m", "textbook", in(own, kOnPlace)},
    {set_of(reduce_scatter, reduce_scatter_block), "recursive_halving",
     reduce_scatter::recursive_halving, kNoParameters, kCommutative,
     "q rounds, (p-1)/p m (2 rounds, m more to fold)", "Thakur, Rabenseifner, Gropp 2005", in(far)},
    {set_of(reduce_scatter, reduce_scatter_block), "pairwise", reduce_scatter::pairwise, kWindow,
     kNone, "p-1 rounds, (p-1)/p m", "Thakur, Rabenseifner, Gropp 2005", in(own, kOnPlace)},
    {set_of(reduce_scatter, reduce_scatter_block), "circulant", reduce_scatter::circulant,
     kNoParameters, kCommutative, "q rounds, (p-1)/p m", "Traeff 2024", in(own, kOnPlace)},
    {set_of(reduce_scatter, reduce_scatter_block), "circulant_segments",
     reduce_scatter::circulant_segments, kSegmentAndWindow, kCommutative, "n-1+q rounds of m/n",
     "Traeff 2022", in(own, kOnPlace | kOnSegment)},
    {set_of(reduce_scatter, reduce_scatter_block), "bine", reduce_scatter::bine, kNoParameters,
     kCommutative, "q rounds, (p-1)/p m (2 rounds, m more to fold); short ways", kBine,
     in(own, kOnPlace)},
    {set_of(reduce_scatter, reduce_scatter_block), "swing", reduce_scatter::swing, kNoParameters,
     kTorus | kCommutative,
     "q rounds, (p-1)/p m over all links of a torus (2 rounds, m more to fold)", kSwing,
     in(own, kOnPlace | kOnTorus)},
    {set_of(reduce_scatter, reduce_scatter_block), "bucket", reduce_scatter::bucket, kBlockSegment,
     kTorus | kCommutative, "sum(n_i-1) rounds, (p-1)/p m over all links of a torus", kBucket,
     in(own, kOnPlace | kOnTorus)},
    {set_of(reduce_scatter, reduce_scatter_block), "grid", reduce_scatter::grid, kNoParameters,
     kComposed, "lanes: columns, then rows, (p-1)/p m", kOrthogonal, in(own, kOnPlace | kOnGrid)},
    {set_of(reduce_scatter, reduce_scatter_block), "torus", reduce_scatter::torus,
     kTreesSegmentAndWindow, kTorus | kCommutative,
     "2d+p rounds of b/t over t trees each way, d deep", kTorusTrees, in(own, kOnTrees | kOnTorus)},
    {set_of(reduce_scatter, reduce_scatter_block), kShm, reduce_scatter::direct, kNoParameters,
     kOneNode, "1 step: (p-1)/p m copied in, m read and reduced", "own; direct slices", in(left)},
    {set_of(reduce_scatter, reduce_scatter_block), "shm_blocks", reduce_scatter::direct,
     kNoParameters, kOneNode, "1 step: (p-1)/p m copied in, m read and reduced",
     "own; direct slices", in(left)},
    {set_of(reduce_scatter, reduce_scatter_block), "shm_slices", reduce_scatter::direct,
     kNoParameters, kOneNode, "2 steps: (p-1)/p m copied in, m read and reduced; the own block out",
     "own; direct slices", in(left)},
    {set_of(reduce_scatter, reduce_scatter_block), "shm_direct", reduce_scatter::direct,
     kNoParameters, kOneNode, "2 steps: (p-1)/p m copied once and reduced", kSingleCopy, in(left)},

    {set_of(barrier), "dissemination", barrier::dissemination, kNoParameters, kNone, "q rounds",
     "Hensgen, Finkel, Manber 1988"},
    {set_of(barrier), "tree", barrier::tree, kRadix, kNone, "2 ceil(log_k p) rounds", "textbook"},
    {set_of(barrier), "grid", barrier::grid, kNoParameters, kComposed, "rows, then columns",
     kOrthogonal},
    {set_of(barrier), kShm, barrier::direct, kNoParameters, kOneNode, "1 step, p-1 lines read",
     kFlags},
    {set_of(barrier), "shm_flags", barrier::direct, kNoParameters, kOneNode,
     "1 step, p-1 lines read", kFlags},
    {set_of(barrier), "shm_levels", barrier::direct, kNoParameters, kOneNode,
     "3 steps, a line of each rank of a group and of each group", kLevels},

    {set_of(gather, gatherv), "flat", gather::flat, kNoParameters, kNone,
     "1 round, (p-1) b at the root", "textbook"},
    {set_of(gather, gatherv), "paced", gather::paced, kGrants, kNone,
     "(p-1)/w rounds of w tokens and blocks, (p-1) b at the root",
     "own; grants as in Faraj, Patarasuk, Yuan 2008"},
    {set_of(gather, gatherv), "binomial", gather::binomial, kRunSegment, kAllCounts,
     "q rounds, (p-1) b at the root", "textbook"},
    {set_of(gather, gatherv), "knomial", gather::knomial, kRadixAndRunSegment, kAllCounts,
     "ceil(log_k p) levels, (p-1) b at the root", "textbook; radix as in MPICH"},
    {set_of(gather, gatherv), "bine", gather::bine, kRunSegment, kAllCounts,
     "q rounds, (p-1) b at the root; short ways", kBine},
    {set_of(gather, gatherv), "grid", gather::grid, kNoParameters, kAllCounts | kComposed,
     "rows, then columns; (p-1) b at the root", kOrthogonal},
    {set_of(gather, gatherv), kShm, gather::flat, kNoParameters, kOneNode,
     "1 step: b copied in, (p-1) b out at the root", kFlags},
    {set_of(gather, gatherv), "shm_pipeline", gather::flat, kNoParameters, kOneNode,
     "1 step: b copied in, (p-1) b out at the root, a slot at a time", kFlags},
    {set_of(gather), "shm_levels", gather::binomial, kNoParameters, kOneNode,
     "up to 112 bytes: 2 steps, b from each rank of a group, then of each group", kLevels},
    {set_of(gather, gatherv), "shm_direct", gather::flat, kNoParameters, kOneNode,
     "2 steps: b written to the root by each of the others", kSingleCopy},

    {set_of(scatter, scatterv), "flat", scatter::flat, kNoParameters, kNone,
     "1 round, (p-1) b at the root", "textbook"},
    {set_of(scatter, scatterv), "paced", scatter::paced, kGrants, kNone,
     "(p-1)/w rounds of w blocks and tokens, (p-1) b at the root",
     "own; grants as in Faraj, Patarasuk, Yuan 2008"},
    {set_of(scatter, scatterv), "binomial", scatter::binomial, kRunSegment, kAllCounts,
     "q rounds, (p-1) b at the root", "textbook"},
    {set_of(scatter, scatterv), "knomial", scatter::knomial, kRadixAndRunSegment, kAllCounts,
     "ceil(log_k p) levels, (p-1) b at the root", "textbook; radix as in MPICH"},
    {set_of(scatter, scatterv), "bine", scatter::bine, kRunSegment, kAllCounts,
     "q rounds, (p-1) b at the root; short ways", kBine},
    {set_of(scatter, scatterv), "grid", scatter::grid, kNoParameters, kAllCounts | kComposed,
     "columns, then rows; (p-1) b at the root", kOrthogonal},
    {set_of(scatter, scatterv), "multicast", scatter::multicast, kNoParameters,
     kAllCounts | kMulticast, "1 round of (p-1) b, sent once to all", kCompiled},
    {set_of(scatterv), "multicast_receivers", scatter::multicast_receivers, kNoParameters,
     kAllCounts | kMulticast | kCountedGroup,
     "1 round of all blocks, sent once to those who get anything", kCompiled},
    {set_of(scatter, scatterv), kShm, scatter::flat, kNoParameters, kOneNode,
     "1 step: (p-1) b copied in at the root, b out", kFlags},
    {set_of(scatter, scatterv), "shm_pipeline", scatter::flat, kNoParameters, kOneNode,
     "1 step: (p-1) b copied in at the root, b out, a slot at a time", kFlags},
    {set_of(scatter, scatterv), "shm_direct", scatter::flat, kNoParameters, kOneNode,
     "2 steps: b read from the root by each of the others", kSingleCopy},

    {set_of(allgather, allgatherv), "ring", allgather::ring, kBlockSegment, kNone,
     "p-1 rounds, (p-1) b", "textbook"},
    {set_of(allgather, allgatherv), "recursive_doubling", allgather::recursive_doubling,
     kNoParameters, kNone, "q rounds, (p-1) b (1 round, p b more to fold)",
     "Thakur, Rabenseifner, Gropp 2005"},
    {set_of(allgather, allgatherv), "bruck", allgather::bruck, kMessagesPerStep, kNone,
     "ceil(log_k p) steps of k-1 messages, (p-1) b", "Bruck et al. 1997"},
    {set_of(allgather, allgatherv), "circulant", allgather::circulant, kNoParameters, kNone,
     "q rounds of 1 or 2 messages, (p-1) b", "Traeff 2024"},
    {set_of(allgather, allgatherv), "circulant_segments", allgather::circulant_segments,
     kSegmentAndWindow, kNone, "n-1+q rounds of p b/n", "Traeff 2022"},
    {set_of(allgather, allgatherv), "neighbour_exchange", allgather::neighbour_exchange,
     kNoParameters, kEvenSize, "p/2 rounds, (p-1) b", "Chen, Zhang, Zhang, Yuan 2005"},
    {set_of(allgather, allgatherv), "gather_bcast", allgather::gather_bcast, kNoParameters, kNone,
     "2q rounds, q p b at rank 0", "textbook"},
    {set_of(allgather, allgatherv), "multicast", allgather::multicast, kTurns, kMulticast,
     "p rounds of b, each sent once to all", kCompiled},
    {set_of(allgather, allgatherv), "straggler", allgather::straggler, kNoParameters, kPredicts,
     "2q rounds, (p-1) b; after the last arrival q of b, (p-1) b for the last",
     "own; after StragglAR 2025"},
    {set_of(allgather, allgatherv), "bine", allgather::bine, kNoParameters, kNone,
     "q rounds, (p-1) b (1 round, p b more to fold); short ways", kBine},
    {set_of(allgather, allgatherv), "swing", allgather::swing, kNoParameters, kTorus,
     "q rounds, (p-1) b over all links of a torus (1 round, p b more to fold)", kSwing},
    {set_of(allgather, allgatherv), "bucket", allgather::bucket, kBlockSegment, kTorus,
     "sum(n_i-1) rounds, (p-1) b over all links of a torus", kBucket},
    {set_of(allgather, allgatherv), "grid", allgather::grid, kNoParameters, kComposed,
     "lanes: rows, then columns, (p-1) b", kOrthogonal},
    {set_of(allgather, allgatherv), "torus", allgather::torus, kTreesAndSegment, kTorus,
     "2d+p rounds of b/t over t trees each way, d deep", kTorusTrees},
    {set_of(allgather, allgatherv), kShm, allgather::direct, kNoParameters, kOneNode,
     "1 step: b copied in, (p-1) b out", kFlags},
    {set_of(allgather, allgatherv), "shm_pipeline", allgather::direct, kNoParameters, kOneNode,
     "1 step: b copied in, (p-1) b out, a slot at a time", kFlags},
    {set_of(allgather, allgatherv), "shm_direct", allgather::direct, kNoParameters, kOneNode,
     "2 steps: (p-1) b copied once by each", kSingleCopy},

    {set_of(alltoall, alltoallv, alltoallw), "simple", alltoall::simple, kNoParameters, kNone,
     "1 round of p-1 messages, (p-1) b", "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "spread_out", alltoall::spread_out, kWindow, kNone,
     "(p-1)/w rounds of w messages, (p-1) b", "textbook; window as in MPICH"},
    {set_of(alltoall, alltoallv, alltoallw), "ring", alltoall::ring, kNoParameters, kNone,
     "p-1 rounds, (p-1) b", "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "pair", alltoall::pair, kNoParameters, kPowerOfTwo,
     "p-1 rounds, (p-1) b", "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "ring_barrier", alltoall::ring_barrier, kNoParameters,
     kNone, "q+p-1 rounds, (p-1) b", "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "pair_barrier", alltoall::pair_barrier, kNoParameters,
     kPowerOfTwo, "q+p-1 rounds, (p-1) b", "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "ring_light_barrier", alltoall::ring_light_barrier,
     kGrantedSegments, kNone, "p-1 rounds of n tokens and segments, (p-1) b",
     "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "pair_light_barrier", alltoall::pair_light_barrier,
     kGrantedSegments, kPowerOfTwo, "p-1 rounds of n tokens and segments, (p-1) b",
     "Faraj, Patarasuk, Yuan 2008"},
    {set_of(alltoall, alltoallv, alltoallw), "bruck", alltoall::bruck, kMessagesPerStep, kMatrix,
     "ceil(log_k p) steps of k-1 messages, b p (k-1)/k log_k p",
     "Bruck et al. 1997; Traeff, Rougier, Hunold 2014; Fan et al. 2022"},
    {set_of(alltoallv, alltoallw), "greedy", alltoall::greedy, kThreshold, kOrder,
     "at most 2 d-1 phases of the d messages of a rank, the longest first", kPhased, kMoves,
     MessageRule::greedy},
    {set_of(alltoallv, alltoallw), "greedy_light_barriers", alltoall::greedy_light_barriers,
     kThreshold, kOrder,
     "at most 2 d-1 phases of the d messages of a rank, the longest first, a token a message",
     kPhased, kMoves, MessageRule::greedy},
    {set_of(alltoallv, alltoallw), "greedy_barriers", alltoall::greedy_barriers, kThreshold, kOrder,
     "at most 2 d-1 phases of the d messages of a rank, the longest first, q rounds between two",
     kPhased, kMoves, MessageRule::greedy},
    {set_of(alltoall, alltoallv, alltoallw), "all_to_all_based", alltoall::all_to_all_based,
     kThreshold, kOrder, "at most p-1 phases, and 2 d-1", kPhased, kMoves,
     MessageRule::all_to_all_based},
    {set_of(alltoall, alltoallv, alltoallw), "all_to_all_based_light_barriers",
     alltoall::all_to_all_based_light_barriers, kThreshold, kOrder,
     "at most p-1 phases, and 2 d-1, a token a message", kPhased, kMoves,
     MessageRule::all_to_all_based},
    {set_of(alltoall, alltoallv, alltoallw), "all_to_all_based_barriers",
     alltoall::all_to_all_based_barriers, kThreshold, kOrder,
     "at most p-1 phases, and 2 d-1, q rounds between two", kPhased, kMoves,
     MessageRule::all_to_all_based},
    {set_of(alltoallv, alltoallw), "edge_colouring", alltoall::edge_colouring, kNoParameters,
     kOrder, "d phases, the fewest", "Koenig 1916", kMoves, MessageRule::edge_colouring},
    {set_of(alltoallv, alltoallw), "edge_colouring_light_barriers",
     alltoall::edge_colouring_light_barriers, kNoParameters, kOrder,
     "d phases, the fewest, a token a message", "Koenig 1916", kMoves, MessageRule::edge_colouring},
    {set_of(alltoallv, alltoallw), "edge_colouring_barriers", alltoall::edge_colouring_barriers,
     kNoParameters, kOrder, "d phases, the fewest, q rounds between two", "Koenig 1916", kMoves,
     MessageRule::edge_colouring},
    {set_of(alltoall, alltoallv, alltoallw), "credits", alltoall::credits, kCredits, kNone,
     "1 round of n credits and segments a message, w of them on their way to a rank, (p-1) b",
     "own; Gonzalez, Sahni 1976; credits as in pHost, Gao et al. 2015"},
    {set_of(alltoallv, alltoallw), "token_list", alltoall::token_list, kGrantedSegments, kOrder,
     "1.00 to 1.03 of the bytes at the busiest port; n tokens and segments a message",
     "own; list scheduling of an open shop", kMoves, MessageRule::token_list},
    {set_of(alltoallv, alltoallw), "stored", alltoall::stored, kGrantedSegments, kOrder | kStored,
     "as token_list, and no counts are exchanged", kPhased, kMoves, MessageRule::token_list},
    {set_of(alltoall), "grid", alltoall::grid, kNoParameters, kComposed,
     "lanes: rows, then columns: C+R-2 messages, 2 p b", "textbook; Kinkead et al. 2025"},
    {set_of(alltoall, alltoallv, alltoallw), kShm, alltoall::simple, kNoParameters, kOneNode,
     "1 step: (p-1) b copied in, (p-1) b out", kFlags},
    {set_of(alltoall, alltoallv, alltoallw), "shm_pipeline", alltoall::simple, kNoParameters,
     kOneNode, "1 step: (p-1) b copied in, (p-1) b out, a slot at a time", kFlags},
    {set_of(alltoall, alltoallv, alltoallw), "shm_direct", alltoall::simple, kNoParameters,
     kOneNode, "2 steps: (p-1) b copied once by each", kSingleCopy},

    {set_of(scan, exscan), "linear", scan::linear, kNoParameters, kNone, "p-1 rounds of m",
     "textbook", in(left)},
    {set_of(scan, exscan), "recursive_doubling", scan::recursive_doubling, kNoParameters, kNone,
     "q rounds of m", "Hillis, Steele 1986", in(own)},
    {set_of(scan, exscan), "chain", scan::chain, kSegment, kNone, "p-2+n rounds of m/n",
     "Worringer 2003", in(left)},
    {set_of(scan, exscan), "two_tree", scan::two_tree, kSegmentAndWindow, kNone,
     "about 2n+8 log2 p rounds of m/n", kTwoTree, in(own, kOnPlace | kOnSegment)},
    {set_of(scan, exscan), "fractional_tree", scan::fractional_tree, kSegmentGroupAndWindow, kNone,
     "about (2+1/r)n+2(r+1)log2 p rounds of m/n; a chain if p<=3r", kFractional,
     in(own, kOnPlace | kOnSegment | kOnRadix)},
    {set_of(scan), "grid", scan::grid, kNoParameters, kComposed,
     "rows, columns, then down the rows", kOrthogonal, in(own, kOnGrid)},
    {set_of(exscan), "grid", scan::grid, kNoParameters, kComposed,
     "rows, columns, then down the rows", kOrthogonal, in(own, kOnGrid)},
    {set_of(scan, exscan), "torus", scan::torus, kSegmentAndWindow, kTorus,
     "2d+n rounds of m/n, d deep: the sum of the torus' sides", kTorusTrees, in(left)},
    {set_of(scan, exscan), kShm, scan::linear, kNoParameters, kOneNode,
     "p-2+n steps of m/n: reduced into memory, read by the next", "Worringer 2003", in(left)},
    {set_of(scan, exscan), "shm_read_all", scan::read_all, kNoParameters, kOneNode,
     "1 step: m copied in, r m read and reduced by rank r", kFlags, in(left)},
    {set_of(scan, exscan), "shm_chain", scan::linear, kNoParameters, kOneNode,
     "p-2+n steps of m/n: reduced into memory, read by the next", "Worringer 2003", in(left)},
    {set_of(scan, exscan), "shm_direct", scan::linear, kNoParameters, kOneNode,
     "2 steps: m copied once and reduced by each, m written to others", kSingleCopy, in(left)},

    {kAmongNeighbours, "linear", neighbours::linear, kNoParameters, kNone,
     "1 round of d messages, to and from d neighbours", "textbook"},
    {kAmongNeighbours, kShm, neighbours::linear, kNoParameters, kOneNode,
     "1 step: d b copied in, d b out", kFlags},
    {kAmongNeighbours, "nodes", neighbours::nodes, kNoParameters, kMatrix | kGraph,
     "3 phases; one message between two nodes", "Bienz, Gropp, Olson 2019"},
    {kAmongNeighbours, "rows", neighbours::rows, kRow, kMatrix | kGraph,
     "2 phases; messages to R ranks of a row, then to C of a column", "Traeff, Hunold 2019"},
};

}  // namespace

std::span<const Algorithm> catalogue() { return kCatalogue; }

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& row : kCatalogue)
    if (contains(row.collectives, collective) && row.name == name) return &row;
  return nullptr;
}

Params default_params(const Algorithm& algorithm) {
  Params params;
  for (const Parameter& parameter : algorithm.parameters)
    params.*parameter.field = parameter.default_value;
  return params;
}

}  // namespace unisono
