#include <gtest/gtest.h>

#include "compression/control/delay_adaptive_controller.h"

namespace banyan {
namespace {

TEST(DelayMonitorTest, OneRoundIsItsOwnMinimumAndAverage) {
  DelayMonitor monitor(50);
  monitor.Add(0.25);
  EXPECT_EQ(monitor.delay(), 0.25);
  EXPECT_EQ(monitor.minimum(), 0.25);
  EXPECT_EQ(monitor.average(), 0.25);
  EXPECT_EQ(monitor.average_difference(), 0);
}

TEST(DelayMonitorTest, FourRoundsInAWindowOfThree) {
  DelayMonitor monitor(3);
  for (double delay : {1.0, 4.0, 2.0, 9.0}) monitor.Add(delay);
  EXPECT_EQ(monitor.delay(), 9);
  EXPECT_EQ(monitor.minimum(), 1);                          // has left the window, but not the memory
  EXPECT_DOUBLE_EQ(monitor.average(), 5);                   // of 4, 2, 9
  EXPECT_DOUBLE_EQ(monitor.average_difference(), 8.0 / 3);  // of 3, -2, 7
}

TEST(DelayMonitorTest, AStepRaisesTheAverageBitByBit) {
  DelayMonitor monitor(50);
  for (int i = 0; i < 60; ++i) monitor.Add(1);
  EXPECT_EQ(monitor.average_difference(), 0);
  monitor.Add(2);
  EXPECT_DOUBLE_EQ(monitor.average(), 51.0 / 50);
  EXPECT_DOUBLE_EQ(monitor.average_difference(), 1.0 / 50);
  for (int i = 0; i < 49; ++i) monitor.Add(2);
  EXPECT_DOUBLE_EQ(monitor.average(), 2);
  EXPECT_DOUBLE_EQ(monitor.average_difference(), 1.0 / 50);  // the step is the oldest of the differences
  monitor.Add(2);
  EXPECT_EQ(monitor.average_difference(), 0);
}

}  // namespace
}  // namespace banyan
