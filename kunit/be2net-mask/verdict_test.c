// SPDX-License-Identifier: GPL-2.0
/*
 * What masks mean, kernel by kernel. Each vector has its source: a function of the
 * kernel, by version and file, or a guest where it was seen.
 */
#include <kunit/test.h>
#include <linux/dma-mapping.h>
#include <linux/limits.h>
#include <linux/sizes.h>

#include "verdict.h"

#define M(bits) DMA_BIT_MASK(bits)
/* What dma_max_mapping_size() says when SWIOTLB may be asked: swiotlb_max_mapping_size(). */
#define SWIOTLB_MAX SZ_256K

/* What verdicts are made of. */
#define REVOKED "identity domain, which this kernel takes away at the next mapping: "
#define DENIED "DMA domain: translated, passthrough would be refused: "
#define BELOW(mask, bits) #mask " mask 32 bit is below required " #bits " bit"
#define GRANTED "identity domain: passthrough granted"
#define NO_IOMMU "no IOMMU: not translated"
#define BY_POLICY " domain: translated, whatever the masks; for passthrough boot with iommu=pt"
#define OR_TYPE ", or unbind it and write identity to its IOMMU group's type"
#define DMA_BY_POLICY "DMA" BY_POLICY OR_TYPE
#define FQ_BY_POLICY "DMA-FQ" BY_POLICY OR_TYPE
#define RINGS(mask, where) "; coherent " #mask " bit" where
#define LOW_RINGS(mask, bits) \
	RINGS(mask, " below required " #bits " bit: rings confined to memory below 4 GiB")
#define LOW_ADDRESS(mask) RINGS(mask, ": rings lie anywhere, at bus addresses below 4 GiB")
#define ANYWHERE(mask) RINGS(mask, ": rings lie anywhere")
#define RAISED(mask, from) RINGS(mask, " (raised from " #from " bit): rings lie anywhere")
#define BUFFERS(mask, how) "; streaming " #mask " bit" how
#define NO_BOUNCE(mask) BUFFERS(mask, ": no buffer bounces")
#define BOUNCES(mask, reach) \
	BUFFERS(mask, ", RAM above it: every buffer above " reach " bounces")
#define NO_POOL ", RAM above it and no bounce pool: mapping a buffer above "
#define FAILS(mask, reach) \
	BUFFERS(mask, NO_POOL reach " fails; boot with iommu=soft for a pool")
#define PARTIAL(mask) \
	BUFFERS(mask, ": buffers that do not fill pages bounce, as the device is not trusted")
#define BEYOND "; coherent memory may lie beyond what the driver says is reached"
#define CAN_RAISE(bits) "; can be raised to " #bits " bit: write 1 to coherent_mask/apply"

struct vector {
	const char *source;
	struct bnm_facts facts;
	struct bnm_verdict verdict;
	const char *text;
};

#define FACTS(era_, domain_, streaming_, coherent_, required_, max_mapping_, ...) \
	.facts = { .era = BNM_ERA_##era_, .bound = true, .domain = BNM_DOMAIN_##domain_, \
		   .masks = { M(streaming_), M(coherent_) }, .required = M(required_), \
		   .max_mapping = (max_mapping_), ##__VA_ARGS__ }
#define VERDICT(passthrough_, swiotlb_, rings_, ...) \
	.verdict = { .passthrough = BNM_PASS_##passthrough_, .swiotlb = BNM_SWIOTLB_##swiotlb_, \
		     .rings = BNM_RINGS_##rings_, ##__VA_ARGS__ }

static const struct vector vectors[] = {
	/* --- until 5.7: the masks decide, and the narrower one --- */
	{ "5.4 intel-iommu.c iommu_need_mapping: coherent mask takes it out of identity",
	  FACTS(MASKS, IDENTITY, 64, 32, 35, SIZE_MAX),
	  VERDICT(REVOKED, NO, LOW_MEMORY, .can_raise = true),
	  REVOKED BELOW(coherent, 35) LOW_RINGS(32, 35) NO_BOUNCE(64) CAN_RAISE(64) },
	{ "the original's row \"translated\": 4.6 of 6.9 Gbit/s, kernel of 2013",
	  FACTS(MASKS, DMA, 64, 32, 35, SIZE_MAX),
	  VERDICT(MASKS, NO, LOW_ADDRESS, .can_raise = true),
	  DENIED BELOW(coherent, 35) LOW_ADDRESS(32) NO_BOUNCE(64) CAN_RAISE(64) },
	{ "the original's row \"passed through\": 6.9 Gbit/s with the mask raised",
	  FACTS(MASKS, IDENTITY, 64, 64, 35, SIZE_MAX, .raised_from = M(32)),
	  VERDICT(GRANTED, NO, ANYWHERE),
	  GRANTED RAISED(64, 32) NO_BOUNCE(64) },
	{ "the original's row \"VT-d off\": 6.9 Gbit/s",
	  FACTS(MASKS, NONE, 64, 32, 35, SIZE_MAX),
	  VERDICT(NO_IOMMU, NO, LOW_MEMORY, .can_raise = true), },
	{ "5.4 iommu_need_mapping: mask >= required stays in identity",
	  FACTS(MASKS, IDENTITY, 64, 32, 32, SIZE_MAX),
	  VERDICT(GRANTED, NO, ANYWHERE, .can_raise = true), },
	{ "5.4 iommu_need_mapping: one bit too few",
	  FACTS(MASKS, IDENTITY, 64, 32, 33, SIZE_MAX),
	  VERDICT(REVOKED, NO, LOW_MEMORY, .can_raise = true), },
	{ "5.4 iommu_need_mapping: streaming mask takes it out of identity",
	  FACTS(MASKS, IDENTITY, 32, 32, 33, SWIOTLB_MAX),
	  VERDICT(REVOKED, MASK, LOW_MEMORY),
	  REVOKED BELOW(streaming, 33) LOW_RINGS(32, 33) BOUNCES(32, "4 GiB") },
	{ "5.4 iommu_need_mapping: streaming narrower than coherent counts",
	  FACTS(MASKS, DMA, 32, 64, 33, SIZE_MAX),
	  VERDICT(MASKS, NO, ANYWHERE, .beyond_streaming = true),
	  DENIED BELOW(streaming, 33) ANYWHERE(64) NO_BOUNCE(32) BEYOND },
	{ "5.4 iommu_need_mapping: wide masks, so the command line decided",
	  FACTS(MASKS, DMA, 64, 64, 35, SIZE_MAX),
	  VERDICT(POLICY, NO, ANYWHERE), },

	/* --- 5.10: intel/iommu.c no longer looks at the masks --- */
	{ "5.10 intel/iommu.c device_def_domain_type: no mask",
	  FACTS(BOOT, IDENTITY, 64, 32, 35, SIZE_MAX),
	  VERDICT(GRANTED, NO, LOW_MEMORY, .can_raise = true),
	  GRANTED LOW_RINGS(32, 35) NO_BOUNCE(64) CAN_RAISE(64) },
	{ "5.10 dma/direct.c dma_direct_map_page: bounces above the mask",
	  FACTS(BOOT, IDENTITY, 32, 32, 33, SWIOTLB_MAX),
	  VERDICT(GRANTED, MASK, LOW_MEMORY), },
	{ "5.10 iommu.c iommu_get_def_domain_type: set at boot, type file is read-only",
	  FACTS(BOOT, DMA, 64, 64, 32, SIZE_MAX),
	  VERDICT(POLICY, NO, ANYWHERE),
	  "DMA domain: translated, whatever the masks; for passthrough boot with iommu=pt"
	  ANYWHERE(64) NO_BOUNCE(64) },

	/* --- 6.1 --- */
	{ "6.1 guest, intel_iommu=on, 1 GiB, e1000e: DMA-FQ, required 32",
	  FACTS(GROUP, DMA_FQ, 64, 64, 32, SIZE_MAX),
	  VERDICT(POLICY, NO, ANYWHERE),
	  FQ_BY_POLICY ANYWHERE(64) NO_BOUNCE(64) },
	{ "6.1 dma-iommu.c iommu_dma_alloc: the address is below the coherent mask",
	  FACTS(GROUP, DMA_FQ, 64, 32, 32, SIZE_MAX),
	  VERDICT(POLICY, NO, LOW_ADDRESS, .can_raise = true), },
	{ "6.1 dma-iommu.c: translated, a narrow streaming mask costs no copy",
	  FACTS(GROUP, DMA, 32, 32, 32, SIZE_MAX),
	  VERDICT(POLICY, NO, LOW_ADDRESS), },

	/* --- 6.12 --- */
	{ "6.12 guest, no vIOMMU, 5 GiB, e1000 (two 32-bit cards)",
	  FACTS(GROUP, NONE, 32, 32, 33, SWIOTLB_MAX),
	  VERDICT(NO_IOMMU, MASK, LOW_MEMORY),
	  NO_IOMMU LOW_RINGS(32, 33) BOUNCES(32, "4 GiB") },
	{ "6.12 guest, iommu=pt, 6 GiB, e1000: identity, and bounces",
	  FACTS(GROUP, IDENTITY, 32, 32, 33, SWIOTLB_MAX),
	  VERDICT(GRANTED, MASK, LOW_MEMORY), },
	{ "6.12 guest, iommu=pt, 1 GiB, e1000: identity, all memory in reach",
	  FACTS(GROUP, IDENTITY, 32, 32, 30, SIZE_MAX),
	  VERDICT(GRANTED, NO, ANYWHERE), },
	{ "6.12 guest, iommu=pt, 6 GiB, e1000e",
	  FACTS(GROUP, IDENTITY, 64, 64, 33, SIZE_MAX),
	  VERDICT(GRANTED, NO, ANYWHERE), },
	{ "6.12 dma/direct.c dma_direct_alloc: GFP_DMA32 for a 32-bit coherent mask",
	  FACTS(GROUP, IDENTITY, 64, 32, 35, SIZE_MAX),
	  VERDICT(GRANTED, NO, LOW_MEMORY, .can_raise = true), },
	{ "6.12 dma/direct.h dma_direct_map_page: no pool, the mapping fails",
	  FACTS(GROUP, NONE, 32, 32, 33, SIZE_MAX),
	  VERDICT(NO_IOMMU, NO_POOL, LOW_MEMORY),
	  NO_IOMMU LOW_RINGS(32, 33) FAILS(32, "4 GiB") },
	{ "6.12 dma/direct.c dma_direct_max_mapping_size: swiotlb=force",
	  FACTS(GROUP, NONE, 64, 64, 33, SWIOTLB_MAX),
	  VERDICT(NO_IOMMU, FORCED, ANYWHERE),
	  NO_IOMMU ANYWHERE(64)
	  "; streaming 64 bit: every buffer bounces, by swiotlb=force or encryption" },
	{ "6.12 dma-iommu.c iommu_dma_max_mapping_size: untrusted device",
	  FACTS(GROUP, DMA, 64, 64, 32, SWIOTLB_MAX),
	  VERDICT(POLICY, UNTRUSTED, ANYWHERE),
	  DMA_BY_POLICY ANYWHERE(64) PARTIAL(64) },
	{ "6.12 dma-direct.h dma_capable: the bus limits, too",
	  FACTS(GROUP, NONE, 64, 64, 33, SWIOTLB_MAX, .bus_limit = M(32)),
	  VERDICT(NO_IOMMU, MASK, LOW_MEMORY),
	  NO_IOMMU LOW_RINGS(64, 33)
	  "; streaming 64 bit (bus 32 bit), RAM above it: every buffer above 4 GiB bounces" },
	{ "6.12 dma-iommu.c iommu_dma_alloc_iova: the bus limits addresses",
	  FACTS(GROUP, DMA, 64, 64, 32, SIZE_MAX, .bus_limit = M(32)),
	  VERDICT(POLICY, NO, LOW_ADDRESS), },
	{ "6.12 pci/probe.c pci_device_add: coherent stays 32 bit when a driver sets only 28",
	  FACTS(GROUP, NONE, 28, 32, 33, SWIOTLB_MAX),
	  VERDICT(NO_IOMMU, MASK, LOW_MEMORY, .beyond_streaming = true),
	  NO_IOMMU LOW_RINGS(32, 33) BOUNCES(28, "256 MiB") BEYOND },
	{ "6.12 vfio: a domain of its own",
	  FACTS(GROUP, OTHER, 32, 32, 33, SIZE_MAX),
	  VERDICT(OTHER, NO_POOL, LOW_MEMORY),
	  "its domain is not the DMA API's: VFIO or another user has the device" },

	/* --- 7.x: the same choices as 6.12 --- */
	{ "7.3 guest, iommu=pt, coherent mask left at 32 bit",
	  FACTS(GROUP, IDENTITY, 64, 32, 33, SIZE_MAX),
	  VERDICT(GRANTED, NO, LOW_MEMORY, .can_raise = true), },
	{ "7.3 guest, no vIOMMU, streaming 48 bit",
	  FACTS(GROUP, NONE, 48, 32, 33, SIZE_MAX),
	  VERDICT(NO_IOMMU, NO, LOW_MEMORY, .can_raise = true),
	  NO_IOMMU LOW_RINGS(32, 33) NO_BOUNCE(48) CAN_RAISE(48) },

	{ "no driver: what pci_device_add() left is nobody's word",
	  .facts = { .era = BNM_ERA_GROUP, .masks = { M(32), M(32) }, .required = M(33),
		     .max_mapping = SWIOTLB_MAX },
	  VERDICT(NO_IOMMU, MASK, LOW_MEMORY),
	  "no driver is bound: its masks say nothing" },
};

static void describe(const struct vector *vector, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%s", vector->source);
}

KUNIT_ARRAY_PARAM(vectors, vectors, describe);

static void verdict_judges(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	struct bnm_verdict verdict = bnm_judge(&vector->facts);

	KUNIT_EXPECT_EQ(test, verdict.passthrough, vector->verdict.passthrough);
	KUNIT_EXPECT_EQ(test, verdict.swiotlb, vector->verdict.swiotlb);
	KUNIT_EXPECT_EQ(test, verdict.rings, vector->verdict.rings);
	KUNIT_EXPECT_EQ(test, verdict.can_raise, vector->verdict.can_raise);
	KUNIT_EXPECT_EQ(test, verdict.beyond_streaming, vector->verdict.beyond_streaming);
}

/* In memory of just its size, so that KASAN sees what goes beyond. */
static void verdict_says(struct kunit *test)
{
	const struct vector *vector = test->param_value;
	char *text = kunit_kmalloc(test, BNM_VERDICT_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	bnm_verdict_text(text, &vector->facts);
	if (vector->text)
		KUNIT_EXPECT_STREQ(test, text, vector->text);
	/* none is cut off */
	KUNIT_EXPECT_LT(test, strlen(text), BNM_VERDICT_SIZE - 1);
}

static void verdict_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, bnm_domain_text(BNM_DOMAIN_NONE), "none");
	KUNIT_EXPECT_STREQ(test, bnm_domain_text(BNM_DOMAIN_DMA_FQ), "DMA-FQ");
	KUNIT_EXPECT_STREQ(test, bnm_domain_text(BNM_DOMAIN_OTHER), "other");
	KUNIT_EXPECT_STREQ(test, bnm_passthrough_text(BNM_PASS_NO_IOMMU), "no IOMMU");
	KUNIT_EXPECT_STREQ(test, bnm_passthrough_text(BNM_PASS_MASKS), "denied by masks");
	KUNIT_EXPECT_STREQ(test, bnm_passthrough_text(BNM_PASS_OTHER), "not the driver's domain");
	KUNIT_EXPECT_STREQ(test, bnm_swiotlb_text(BNM_SWIOTLB_NO), "no");
	KUNIT_EXPECT_STREQ(test, bnm_swiotlb_text(BNM_SWIOTLB_UNTRUSTED), "partial pages");
}

static void verdict_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, bnm_bits(0), 0);
	KUNIT_EXPECT_EQ(test, bnm_bits(M(24)), 24);
	KUNIT_EXPECT_EQ(test, bnm_bits(M(32)), 32);
	KUNIT_EXPECT_EQ(test, bnm_bits(M(64)), 64);
	/* a mask need not be all ones: some bus limits are not */
	KUNIT_EXPECT_EQ(test, bnm_bits(0x1fffffff0ULL), 33);
}

static struct kunit_case verdict_cases[] = {
	KUNIT_CASE_PARAM(verdict_judges, vectors_gen_params),
	KUNIT_CASE_PARAM(verdict_says, vectors_gen_params),
	KUNIT_CASE(verdict_names),
	KUNIT_CASE(verdict_bits),
	{}
};

static struct kunit_suite verdict_suite = {
	.name = "be2net_mask_verdict",
	.test_cases = verdict_cases,
};

kunit_test_suite(verdict_suite);
