// Seeds that once broke a rule, each with what it was; tests run them whatever the number of seeds.
#ifndef BANYAN_SIM_REGRESSION_SEEDS_H_
#define BANYAN_SIM_REGRESSION_SEEDS_H_

#include <cstdint>
#include <vector>

namespace banyan {

struct RegressionSeed {
  uint64_t seed;
  const char* what_broke;
};

// Of the safety test.
inline const std::vector<RegressionSeed> kRegressionSeeds = {
    {339, "a node left while a slower one still pulled the last result"},
    {1675, "a node left while a slower one still pulled the last result"},
    {115, "two relays refused each other's chunks for ever"},
    {1001, "two relays refused each other's chunks for ever"},
    {324, "a chunk was sent again and again after its round was closed everywhere and its policy retired"},
    {1346, "a chunk was sent again and again after its round was closed everywhere and its policy retired"},
    {2866, "a chunk was sent again when its sender's fast clock said so, and the checker's did not"},
    {14266, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {15690, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {18642, "a policy was retired before a node that was away had seen it, and others took its silence for its end"},
    {2057, "after a pause copies were sent of chunks whose acks were still to be read"},
    {3560, "the pace of a link that carries single small chunks fell with its rate, and its rate with its pace"},
    {4885, "the checker took the copy of an acknowledged chunk for one that needs credit"},
    {100620363, "the checker took a chunk that a codec makes longer for two"},
    {239966761, "a member fell out that had come back before the next epoch began"},
};

// Of the fault simulation.
inline const std::vector<RegressionSeed> kFaultRegressionSeeds = {
    {0, "a node that came back to a job that was over took that for a failure"},
    {5, "the start failed, since only an absent node connected those who had joined"},
    {12, "a restarted scheduler had forgotten delays, and sent another slice under the same version"},
    {107, "those who came late waited for a way to each other over members that had finished"},
    {223, "a node that was restarted before the start was refused, since its former start seemed to be there"},
    {259, "a worker that died before the start made the start wait for ever"},
    {287, "a link without which there is no plan was left out for a minute"},
    {690, "a member that had finished and fell out did not come back to pass chunks on"},
    {731, "a restarted scheduler refused the policy that it had made without a link"},
    {836, "a node that was silent at the start got the plan and no policy"},
    {24, "the checker compared with the result of a node that had fallen out"},
    {69, "the checker compared with what a node had held that had fallen out"},
    {52, "the checker took what a dead worker had pushed for lost"},
    {1704, "the checker knew nothing of what a node keeps that abstains from a flush"},
    {300, "the checker took what the former start of a node had held for never held"},
    {27, "a node whose workers were new was the source of values that it did not have"},
    {130, "a node whose workers were new was the source of values that it did not have"},
    {78, "the rounds of a dead worker counted against the limit of the next one"},
    {194, "the rounds of a dead worker counted against the limit of the next one"},
    {524, "a node that joined took itself for a member, by a policy that named its former start"},
    {1257, "a node that joined took itself for a member, by a policy that named its former start"},
    {5735, "a node left a leader that had just begun to listen, and then took it for one without records"},
    {1450, "a node left a leader that had just begun to listen, and then took it for one without records"},
    {1931, "the checker did not know what a plan had closed for those who joined with it"},
    {2307, "the checker did not know of a plan that was durable and that nobody had been told of"},
    {101401, "the checker forgot that the plan of an epoch closes rounds, for those too who join with it"},
    {101652, "the checker forgot that the plan of an epoch closes rounds, for those too who join with it"},
    {121583, "the checker knew nothing of what was kept of a round whose result came to no worker"},
    {121705,
     "the checker took policies for needed whose epoch was over, when the scheduler came back with another plan"},
    {121605, "a node that joined waited for ever for a round that was closed after an open one"},
    {122548, "a job whose workers had all died at the start began from zeros"},
    {779, "a result into which nobody had put anything was malformed"},
    {80290, "a node that had taken long to leave was started again after all were asked to stop"},
    {34316, "the checker took for lost what one had kept of a round who was gone before it was whole"},
    {91206342, "a node went to and fro between a scheduler that stood still and a leader whose path had forgotten it"},
};

// All faults, in jobs whose workers may share their states.
inline const std::vector<RegressionSeed> kStateRegressionSeeds = {
    {18, "rounds from which a node had abstained were nobody's when the fetch of its worker failed"},
    {85, "rounds from which a node had abstained were nobody's when the fetch of its worker failed"},
    {102, "a worker that had fetched a state was taken for one without until its next boundary"},
    {246, "a worker that had fetched a state was taken for one without until its next boundary"},
    {152, "members who had let their workers go, as the scheduler was silent, were waited for at a boundary"},
    {13, "what concerned states went to the first scheduler, whichever led"},
    {33, "what concerned states went to the first scheduler, whichever led"},
    {129, "the simulated worker did not know with which round it began when nobody had a state"},
    {1472, "a node left although a worker had come late, whose fetch nobody answered"},
    {2513, "a node left although a worker had come late, whose fetch nobody answered"},
    {4662, "a worker that came when the job was over waited for a state for ever"},
    {5509, "the checker took a round for one of two kinds whose first contributors had all died"},
    {22987, "a node that was restarted twice within a moment was refused, since its former start waited to join"},
    {20851, "the checker took what a finished worker had for held, though its node had fallen out and started again"},
    {82647, "the checker counted what a paused node had sent before it took the new epoch"},
    {122103, "the checker did not know of a cut that was durable and that nobody had heard of before a restart"},
    {122559, "the checker did not know of a cut that was durable and that nobody had heard of before a restart"},
    {73939, "the checker compared a model with that of a finished worker whose node had fallen out and started again"},
    {64589, "the checker missed who had abstained in a result that was made before it began"},
    {33086, "the checker took a round for one of two kinds whose first contributors had all died"},
    {32476, "a node that had left did not hear that the job was over when a worker of it came late"},
    {33076, "a node that had left did not hear that the job was over when a worker of it came late"},
    {33400, "a node that had left did not hear that the job was over when a worker of it came late"},
    {50133, "a node that had left did not hear that the job was over when a worker of it came late"},
    {51909, "a node that had left did not hear that the job was over when a worker of it came late"},
    {31556, "a node that had left did not hear that the job was over when a worker of it came late"},
};

// All faults, in jobs some of which have a server-side optimizer.
inline const std::vector<RegressionSeed> kOptimizerRegressionSeeds = {
    {33690, "the checker knew nothing of a node that came to a job whose parameters were lost"},
    {32319, "a node that lacked parameters waited for ever for members that had finished"},
    {24519, "the simulator did not know that a job may be over while a dead worker of its last node is away"},
    {61965, "nodes that lacked parameters asked each other for ever when all others had finished"},
    {905, "the simulator did not know that a node may have left while a dead worker of it was away"},
    {122865, "the simulator did not know that a node may have left while a dead worker of it was away"},
    {109404, "who had let its workers go while the scheduler was silent was taken for one without a state"},
    {129553, "who had let its workers go while the scheduler was silent was taken for one without a state"},
    {25787, "simulated workers fetched again and again within less time than their states took"},
};

// All faults, connections that fall silent among them.
inline const std::vector<RegressionSeed> kSilenceRegressionSeeds = {
    {215, "a node said again that it joins, on a connection that carried nothing"},
    {1179, "a node said again that it joins, on a connection that carried nothing"},
    {312689, "chunks of an element were planned for links that were believed to be slow, and headers filled them"},
    {314773, "a job of which one node reports no rounds learned for ever, and planned each second"},
    {304956, "a broadcast of which one chunk had come to a member that stayed waited for values that nobody had"},
};

// Faults of the scheduler.
inline const std::vector<RegressionSeed> kSchedulerRegressionSeeds = {
    {60, "rounds from which a node had abstained were nobody's when the fetch of its worker failed"},
    {138, "rounds from which a node had abstained were nobody's when the fetch of its worker failed"},
    {340, "what a worker had pushed before it died counted beside the push of the one that came in its place"},
    {184, "a worker that had fetched a state was taken for one without until its next boundary"},
    {653, "the checker took a round for one of two kinds whose first contributors had all died"},
    {1702, "a node left although a worker had come late, whose fetch nobody answered"},
    {5017, "a node that was restarted twice within a moment was refused, since its former start waited to join"},
    {5646, "a node that was restarted twice within a moment was refused, since its former start waited to join"},
};

// Rough jobs.
inline const std::vector<RegressionSeed> kRoughRegressionSeeds = {
    {65189299, "the checker took a node for steady to which others led that were cut off"},
    {15, "a member that was removed a moment before the scheduler ended was waited for, and could not come back"},
    {3, "a scheduler went on with the file of another job"},
    {5, "a scheduler went on with the file of another job"},
    {14, "results were sums and means, as a scheduler had gone on with the file of another job"},
    {24, "all members fell out while the storage of the scheduler stood"},
    {50, "all members fell out while the storage of the scheduler stood"},
    {66, "all members fell out while the storage of the scheduler stood"},
    {226, "a removal that left no way between the others could not be undone"},
    {211, "the checker took who joined in an epoch that nobody heard of for a member of the one before"},
    {19, "a node that came to a job that was stopped took that for an error"},
    {41, "the checker took starts that found the job over for two leaders of a term"},
    {4566, "an order to let nodes in again waited for ever for members that were gone"},
    {12517, "the checker blamed a job that had ended since all that had the parameters had left"},
    {6712, "a node that had left for good was started again when an operator let it in"},
    {8354, "a broadcast waited for ever for values that only a node had whose worker had died"},
    {9847, "in a fixed order each input that was added had all that were refused sent again"},
    {19389, "the checker took the model of a node that had left for one that could be fetched"},
};

}  // namespace banyan

#endif  // BANYAN_SIM_REGRESSION_SEEDS_H_
