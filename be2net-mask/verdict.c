// SPDX-License-Identifier: GPL-2.0
/* What its masks mean for a PCI function on this kernel, in words. No side effects. */
#include <linux/bitops.h>
#include <linux/dma-mapping.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "verdict.h"

static bool translates(enum bnm_domain domain)
{
	return domain == BNM_DOMAIN_DMA || domain == BNM_DOMAIN_DMA_FQ;
}

/*
 * Until 5.7 Intel's driver looked at the narrower of both masks. From 5.8 ("Allow
 * 32bit devices to uses DMA domain") nobody does.
 */
static bool masks_deny(const struct bnm_facts *facts)
{
	return facts->era == BNM_ERA_MASKS &&
	       min(facts->masks.streaming, facts->masks.coherent) < facts->required;
}

static enum bnm_passthrough judge_passthrough(const struct bnm_facts *facts)
{
	switch (facts->domain) {
	case BNM_DOMAIN_NONE:
		return BNM_PASS_NO_IOMMU;
	case BNM_DOMAIN_IDENTITY:
		return masks_deny(facts) ? BNM_PASS_REVOKED : BNM_PASS_GRANTED;
	case BNM_DOMAIN_DMA:
	case BNM_DOMAIN_DMA_FQ:
		return masks_deny(facts) ? BNM_PASS_MASKS : BNM_PASS_POLICY;
	default:
		return BNM_PASS_OTHER;
	}
}

/* Without translation, does this mask miss some of the memory? */
static bool misses_memory(const struct bnm_facts *facts, u64 mask)
{
	return min_not_zero(mask, facts->bus_limit) < facts->required;
}

/* As dma_direct_max_mapping_size() and iommu_dma_max_mapping_size() say it. */
static enum bnm_swiotlb judge_swiotlb(const struct bnm_facts *facts)
{
	bool asked = facts->max_mapping != SIZE_MAX;

	if (translates(facts->domain))
		return asked ? BNM_SWIOTLB_UNTRUSTED : BNM_SWIOTLB_NO;
	if (misses_memory(facts, facts->masks.streaming))
		return asked ? BNM_SWIOTLB_MASK : BNM_SWIOTLB_NO_POOL;
	return asked ? BNM_SWIOTLB_FORCED : BNM_SWIOTLB_NO;
}

/* dma_direct_alloc() looks for memory below the mask, iommu_dma_alloc() for an address below it. */
static enum bnm_rings judge_rings(const struct bnm_facts *facts)
{
	u64 coherent = facts->masks.coherent;

	if (translates(facts->domain))
		return min_not_zero(coherent, facts->bus_limit) <= DMA_BIT_MASK(32) ?
			BNM_RINGS_LOW_ADDRESS : BNM_RINGS_ANYWHERE;
	return misses_memory(facts, coherent) ? BNM_RINGS_LOW_MEMORY : BNM_RINGS_ANYWHERE;
}

/**
 * bnm_bits() - the bits of a mask
 * @mask: a DMA mask
 *
 * Return: as many as addresses can have; 0 to 64.
 */
unsigned int bnm_bits(u64 mask)
{
	return fls64(mask);
}

/**
 * bnm_judge() - what follows from the facts
 * @facts: all that a verdict depends on
 *
 * Return: the verdict.
 */
struct bnm_verdict bnm_judge(const struct bnm_facts *facts)
{
	return (struct bnm_verdict) {
		.passthrough = judge_passthrough(facts),
		.swiotlb = judge_swiotlb(facts),
		.rings = judge_rings(facts),
		.can_raise = !facts->overruled && bnm_room(&facts->masks) == BNM_ROOM,
		.beyond_streaming = facts->masks.coherent > facts->masks.streaming,
	};
}

/**
 * bnm_domain_text() - the name of a domain's type
 * @domain: the type
 *
 * Return: the words of /sys/kernel/iommu_groups/N/type where it has one.
 */
const char *bnm_domain_text(enum bnm_domain domain)
{
	static const char * const texts[] = {
		[BNM_DOMAIN_NONE] = "none",
		[BNM_DOMAIN_IDENTITY] = "identity",
		[BNM_DOMAIN_DMA] = "DMA",
		[BNM_DOMAIN_DMA_FQ] = "DMA-FQ",
		[BNM_DOMAIN_OTHER] = "other",
	};

	return texts[domain];
}

/**
 * bnm_passthrough_text() - passthrough in a few words
 * @passthrough: what was judged
 *
 * Return: the words.
 */
const char *bnm_passthrough_text(enum bnm_passthrough passthrough)
{
	static const char * const texts[] = {
		[BNM_PASS_NO_IOMMU] = "no IOMMU",
		[BNM_PASS_GRANTED] = "granted",
		[BNM_PASS_REVOKED] = "revoked by masks",
		[BNM_PASS_MASKS] = "denied by masks",
		[BNM_PASS_POLICY] = "denied by policy",
		[BNM_PASS_OTHER] = "not the driver's domain",
	};

	return texts[passthrough];
}

/**
 * bnm_swiotlb_text() - use of SWIOTLB in a few words
 * @swiotlb: what was judged
 *
 * Return: the words.
 */
const char *bnm_swiotlb_text(enum bnm_swiotlb swiotlb)
{
	static const char * const texts[] = {
		[BNM_SWIOTLB_NO] = "no",
		[BNM_SWIOTLB_MASK] = "buffers above the mask",
		[BNM_SWIOTLB_NO_POOL] = "no pool",
		[BNM_SWIOTLB_FORCED] = "all buffers",
		[BNM_SWIOTLB_UNTRUSTED] = "partial pages",
	};

	return texts[swiotlb];
}

/* --- in words --- */

/**
 * struct words - a text that grows
 * @text: its memory, BNM_VERDICT_SIZE bytes
 * @len: characters so far
 */
struct words {
	char *text;
	size_t len;
};

static __printf(2, 3) void say(struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	words->len += vscnprintf(words->text + words->len, BNM_VERDICT_SIZE - words->len,
				 format, args);
	va_end(args);
}

/* "4 GiB" for 32 bits. */
static void say_reach(struct words *words, u64 mask)
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int bits = bnm_bits(mask);

	say(words, "%u %s", 1u << bits % 10, units[bits / 10]);
}

static const char *who_chooses(enum bnm_era era)
{
	return era == BNM_ERA_GROUP ?
		"boot with iommu=pt, or unbind it and write identity to its IOMMU group's type" :
		"boot with iommu=pt";
}

static void say_passthrough(struct words *words, const struct bnm_facts *facts,
			    enum bnm_passthrough passthrough)
{
	const char *domain = bnm_domain_text(facts->domain);

	switch (passthrough) {
	case BNM_PASS_NO_IOMMU:
		say(words, "no IOMMU: not translated");
		break;
	case BNM_PASS_GRANTED:
		say(words, "%s domain: passthrough granted", domain);
		break;
	case BNM_PASS_REVOKED:
		say(words, "%s domain, which this kernel takes away at the next mapping: ", domain);
		break;
	case BNM_PASS_MASKS:
		say(words, "%s domain: translated, passthrough would be refused: ", domain);
		break;
	case BNM_PASS_POLICY:
		say(words, "%s domain: translated, whatever the masks; for passthrough %s", domain,
		    who_chooses(facts->era));
		break;
	case BNM_PASS_OTHER:
		say(words, "its domain is not the DMA API's: VFIO or another user has the device");
		break;
	}
	if (passthrough == BNM_PASS_REVOKED || passthrough == BNM_PASS_MASKS)
		say(words, "%s mask %u bit is below required %u bit",
		    facts->masks.coherent < facts->masks.streaming ? "coherent" : "streaming",
		    bnm_bits(min(facts->masks.coherent, facts->masks.streaming)),
		    bnm_bits(facts->required));
}

static void say_rings(struct words *words, const struct bnm_facts *facts, enum bnm_rings rings)
{
	u64 limit = min_not_zero(facts->masks.coherent, facts->bus_limit);

	say(words, "; coherent %u bit", bnm_bits(facts->masks.coherent));
	if (facts->raised_from)
		say(words, " (raised from %u bit)", bnm_bits(facts->raised_from));
	if (facts->overruled)
		say(words, ", which the driver itself sets");
	switch (rings) {
	case BNM_RINGS_ANYWHERE:
		say(words, ": rings lie anywhere");
		break;
	case BNM_RINGS_LOW_MEMORY:
		say(words, " below required %u bit: rings confined to memory below ",
		    bnm_bits(facts->required));
		say_reach(words, limit);
		break;
	case BNM_RINGS_LOW_ADDRESS:
		say(words, ": rings lie anywhere, at bus addresses below ");
		say_reach(words, limit);
		break;
	}
}

static void say_buffers(struct words *words, const struct bnm_facts *facts,
			enum bnm_swiotlb swiotlb)
{
	u64 limit = min_not_zero(facts->masks.streaming, facts->bus_limit);

	say(words, "; streaming %u bit", bnm_bits(facts->masks.streaming));
	if (facts->bus_limit && facts->bus_limit < facts->masks.streaming)
		say(words, " (bus %u bit)", bnm_bits(facts->bus_limit));
	switch (swiotlb) {
	case BNM_SWIOTLB_NO:
		say(words, ": no buffer bounces");
		break;
	case BNM_SWIOTLB_MASK:
		say(words, ", RAM above it: every buffer above ");
		say_reach(words, limit);
		say(words, " bounces");
		break;
	case BNM_SWIOTLB_NO_POOL:
		say(words, ", RAM above it and no bounce pool: mapping a buffer above ");
		say_reach(words, limit);
		say(words, " fails; boot with iommu=soft for a pool");
		break;
	case BNM_SWIOTLB_FORCED:
		say(words, ": every buffer bounces, by swiotlb=force or encryption");
		break;
	case BNM_SWIOTLB_UNTRUSTED:
		say(words, ": buffers that do not fill pages bounce, as the device is not trusted");
		break;
	}
}

/**
 * bnm_verdict_text() - the verdict in words
 * @text: where it goes, BNM_VERDICT_SIZE bytes; one line, without its end
 * @facts: all that a verdict depends on
 */
void bnm_verdict_text(char *text, const struct bnm_facts *facts)
{
	struct bnm_verdict verdict = bnm_judge(facts);
	struct words words = { .text = text };

	if (!facts->bound) {
		say(&words, "no driver is bound: its masks say nothing");
		return;
	}
	say_passthrough(&words, facts, verdict.passthrough);
	if (verdict.passthrough == BNM_PASS_OTHER)
		return;
	say_rings(&words, facts, verdict.rings);
	say_buffers(&words, facts, verdict.swiotlb);
	if (verdict.beyond_streaming)
		say(&words, "; coherent memory may lie beyond what the driver says is reached");
	if (verdict.can_raise)
		say(&words, "; can be raised to %u bit: write 1 to coherent_mask/apply",
		    bnm_bits(facts->masks.streaming));
}
