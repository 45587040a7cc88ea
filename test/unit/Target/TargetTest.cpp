// The tables of targets and cards: rows agree with each other, and names are read as people write
// them.
#include "target/TestTargets.h"
#include "gtest/gtest.h"

using namespace tile;

namespace {

TEST(Targets, AreFoundByNameAndByDevice) {
  for (const GPUTarget &target : getGPUTargets()) {
    EXPECT_EQ(findGPUTarget(target.name), &target);
    GPUName name;
    ASSERT_TRUE(parseGPUName(target.name, name)) << target.name;
    EXPECT_EQ(name.major, target.major) << target.name;
    EXPECT_EQ(name.minor, target.minor) << target.name;
    EXPECT_EQ(name.suffix, target.suffix) << target.name;
  }
  EXPECT_EQ(findDeviceTarget(9, 0)->suffix, 'a');
  EXPECT_EQ(findDeviceTarget(8, 9)->suffix, '\0');
  EXPECT_EQ(findDeviceTarget(7, 5), nullptr);
  EXPECT_EQ(findGPUTarget("sm_95"), nullptr); // only tests add it
  EXPECT_EQ(nameTargetOf(12, 0), "sm_120a");
  EXPECT_EQ(nameTargetOf(7, 5), "sm_75");
  EXPECT_EQ(findTargetFor(9, 0)->name, "sm_90a");
  EXPECT_EQ(findTargetFor(11, 0)->name, "sm_103");
  EXPECT_EQ(findTargetFor(13, 0)->name, "sm_121");
  EXPECT_EQ(findTargetFor(7, 5), nullptr);
}

TEST(Targets, NamesOfOtherFormsAreRefused) {
  GPUName name;
  for (const char *wrong :
       {"", "sm_", "sm_9", "sm_9a", "sm_90ab", "sm_99999", "cpu", "gfx90a", "90a"})
    EXPECT_FALSE(parseGPUName(wrong, name)) << wrong;
  EXPECT_TRUE(parseGPUName("sm_150f", name));
  EXPECT_EQ(name.major, 15u);
  EXPECT_EQ(name.suffix, 'f');
}

TEST(Targets, ASuffixAddsFeaturesAndChangesNoLimit) {
  for (const GPUTarget &target : getGPUTargets())
    if (target.suffix) {
      const GPUTarget *plain = findGPUTarget(target.name.substr(0, target.name.size() - 1));
      ASSERT_TRUE(plain) << target.name;
      EXPECT_TRUE(target.hasAll(plain->features)) << target.name;
      EXPECT_EQ(target.limits.sharedPerProcessor, plain->limits.sharedPerProcessor);
      EXPECT_GE(target.matrix.size(), plain->matrix.size());
    }
}

TEST(Targets, InstructionsComeWithTheirFeature) {
  for (const GPUTarget &target : getGPUTargets()) {
    bool wgmma = target.find(MatrixUnit::Wgmma, MatrixElement::F16, MatrixElement::F32);
    EXPECT_EQ(wgmma, target.has(Feature::Wgmma)) << target.name;
    bool f8 = target.find(MatrixUnit::MmaSync, MatrixElement::F8, MatrixElement::F32);
    unsigned capability = target.capability();
    EXPECT_EQ(f8, capability == 89 || capability >= 120) << target.name;
    EXPECT_TRUE(!f8 || target.has(Feature::Float8Conversions)) << target.name;
    // Cards of data centres alone multiply f64 sooner by it than by scalar code.
    const MatrixInstruction *f64 =
        target.find(MatrixUnit::MmaSync, MatrixElement::F64, MatrixElement::F64);
    EXPECT_EQ(f64 != nullptr, capability == 80 || capability == 90 || capability == 100)
        << target.name;
    EXPECT_EQ(f64 ? f64->m : 0u, f64 && capability == 90 ? 16u : f64 ? 8u : 0u) << target.name;
    EXPECT_FALSE(target.has(Feature::Tma) && !target.has(Feature::TransactionBarriers));
    EXPECT_EQ(target.limits.clusterBlocks > 1, target.has(Feature::Clusters)) << target.name;
  }
}

TEST(Targets, RegistersAreSharedOutByWarps) {
  const GPULimits &limits = findGPUTarget("sm_90a")->limits;
  EXPECT_EQ(limits.registersFor(128, 1), 255); // an instruction names no more
  EXPECT_EQ(limits.registersFor(256, 3), 80);  // 65536 / 768, in units of 8
  EXPECT_EQ(limits.registersFor(1024, 1), 64);
  EXPECT_EQ(limits.registersFor(1000, 1), 64); // whole warps
  EXPECT_EQ(limits.sharedPerBlock(), 227 * 1024);
}

TEST(Cards, BelongToTargets) {
  for (const GPUCard &card : getGPUCards()) {
    ASSERT_TRUE(findGPUTarget(card.target)) << card.name;
    EXPECT_TRUE(card.memory > 0 && card.copied <= card.memory && card.processors > 0) << card.name;
    EXPECT_TRUE(card.tensor16 >= card.tensorTF32 && card.tensor8 >= card.tensor16) << card.name;
    EXPECT_FALSE(card.source.empty()) << card.name;
    EXPECT_EQ(findCard(card.name), &card) << card.name;
  }
  for (const GPUTarget &target : getGPUTargets())
    EXPECT_EQ(findGPUTarget(getCard(target).target)->capability(), target.capability())
        << target.name;
  // One that no card has takes the nearest older one's.
  EXPECT_EQ(getCard(*getTestTargets().begin()).name, "H200 SXM");
}

TEST(Cards, AreFoundAsPeopleAndDriversWriteThem) {
  EXPECT_EQ(findCard("4090")->name, "RTX 4090");
  EXPECT_EQ(findCard("rtx-4090")->name, "RTX 4090");
  EXPECT_EQ(findCard("RTX4090")->name, "RTX 4090");
  EXPECT_EQ(findCard("h200")->name, "H200 SXM");
  EXPECT_EQ(findCard("l4")->name, "L4"); // not the L40S
  EXPECT_EQ(findCard("h100 pcie")->name, "H100 PCIe");
  EXPECT_EQ(findCard("H100")->name, "H100 SXM");
  EXPECT_EQ(findCard("rtx"), nullptr); // several
  EXPECT_EQ(findCard("gtx 1080"), nullptr);
  EXPECT_EQ(findCard(""), nullptr);
  EXPECT_EQ(findCardOfDevice("NVIDIA H100 80GB HBM3")->name, "H100 SXM");
  EXPECT_EQ(findCardOfDevice("NVIDIA H100 PCIe")->name, "H100 PCIe");
  EXPECT_EQ(findCardOfDevice("NVIDIA GeForce RTX 3090")->name, "RTX 3090");
  EXPECT_EQ(findCardOfDevice("NVIDIA A100-SXM4-80GB")->name, "A100 SXM 80GB");
  EXPECT_EQ(findCardOfDevice("NVIDIA L40S")->name, "L40S");
  EXPECT_EQ(findCardOfDevice("Orin")->target, "sm_87");
  EXPECT_EQ(findCardOfDevice("Tesla T4"), nullptr);
}

} // namespace
