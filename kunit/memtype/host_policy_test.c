// SPDX-License-Identifier: GPL-2.0
/* What comes of a page of a guest, under hosts by vendor and age. */
#include <kunit/test.h>

#include "host_policy.h"
#include "pat.h"
#include "pats.h"

/* What can hold of a host or a page. */
#define NONCOHERENT	BIT(0)
#define ASSIGNED	BIT(1)
#define HONOURS_PAT	BIT(2)
#define CACHES_OFF	BIT(3)		/* the quirk that keeps them on is off */
#define NO_SELF_SNOOP	BIT(4)
#define DEVICE		BIT(5)
#define LARGE		BIT(6)
#define CD		BIT(7)
/* What can hold of the result. */
#define UNLIKE		BIT(0)
#define CACHED_DEVICE	BIT(1)

/* Entries of PAT_LINUX. */
#define ASK_WB		0
#define ASK_WC		1
#define ASK_UC_MINUS	2
#define ASK_UC		3

/**
 * struct policy_row - a page of a guest under a host, and what comes out
 * @policy: the host's
 * @holds: of host and page
 * @index: entry of the guest's PAT that the page asks for
 * @mtrr: what the guest's MTRRs say
 * @type: the effective type
 * @effect: what else comes out
 */
struct policy_row {
	enum gmt_policy policy;
	unsigned int holds;
	unsigned int index;
	enum gmt_type mtrr;
	enum gmt_type type;
	unsigned int effect;
};

static const struct policy_row rows[] = {
	/* a device's BAR on Intel: the PAT counts, as a rule the guest's MTRRs do not */
	{ GMT_VMX_2008, DEVICE, ASK_WC, GMT_WC, GMT_WB, UNLIKE | CACHED_DEVICE },
	{ GMT_VMX_2009, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_2009, DEVICE, ASK_UC_MINUS, GMT_WC, GMT_UC, 0 },
	{ GMT_VMX_SERIES, DEVICE, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_VMX_SERIES, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_SERIES, DEVICE, ASK_WB, GMT_WB, GMT_WB, CACHED_DEVICE },
	{ GMT_VMX_SERIES, DEVICE | CD, ASK_WC, GMT_UC, GMT_WB, UNLIKE | CACHED_DEVICE },
	{ GMT_VMX_SERIES, DEVICE | CD | CACHES_OFF, ASK_WC, GMT_WC, GMT_UC, UNLIKE },
	{ GMT_VMX_4_3, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_4_3, DEVICE, ASK_WB, GMT_WB, GMT_UC, UNLIKE },
	{ GMT_VMX_4_3, DEVICE, ASK_UC_MINUS, GMT_WC, GMT_UC, 0 },
	{ GMT_VMX_4_3, DEVICE | CD, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_6_7, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_6_11_RC, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_6_11, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_QUIRK, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_QUIRK, DEVICE | NONCOHERENT, ASK_WC, GMT_UC, GMT_WC, 0 },

	/* RAM on Intel without devices whose DMA does not look into caches */
	{ GMT_VMX_2009, 0, ASK_WC, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_VMX_4_3, 0, ASK_WC, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_VMX_4_3, CD, ASK_WC, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_VMX_6_11_RC, 0, ASK_WC, GMT_WB, GMT_WC, 0 },
	{ GMT_VMX_6_11_RC, NO_SELF_SNOOP, ASK_WC, GMT_WB, GMT_WB, UNLIKE },
	{ GMT_VMX_6_11, HONOURS_PAT, ASK_WC, GMT_WB, GMT_WB, UNLIKE },
	{ GMT_VMX_QUIRK, 0, ASK_WC, GMT_WB, GMT_WB, UNLIKE },
	{ GMT_VMX_QUIRK, HONOURS_PAT, ASK_WC, GMT_WB, GMT_WC, 0 },
	{ GMT_VMX_QUIRK, HONOURS_PAT | NO_SELF_SNOOP, ASK_WC, GMT_WB, GMT_WB, UNLIKE },
	{ GMT_VMX_QUIRK, 0, ASK_WB, GMT_WC, GMT_WB, 0 },

	/* and with such devices */
	{ GMT_VMX_2008, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_VMX_2009, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_VMX_2009, NONCOHERENT | CD, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_VMX_4_3, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_VMX_4_3, NONCOHERENT | CD, ASK_UC_MINUS, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_VMX_4_3, NONCOHERENT | CD | CACHES_OFF, ASK_WB, GMT_WB, GMT_UC, UNLIKE },
	{ GMT_VMX_6_7, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_VMX_6_7, NONCOHERENT | CD, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_6_7, NONCOHERENT | CD | CACHES_OFF, ASK_WC, GMT_WB, GMT_UC, UNLIKE },
	{ GMT_VMX_6_11, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_UC, 0 },
	{ GMT_VMX_6_11, NONCOHERENT, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_VMX_QUIRK, NONCOHERENT, ASK_UC_MINUS, GMT_WC, GMT_UC, 0 },

	/* AMD: entry 1 is WT where the guest's PAT never arrives */
	{ GMT_SVM_OLD, DEVICE, ASK_WC, GMT_UC, GMT_UC, UNLIKE },
	{ GMT_SVM_OLD, 0, ASK_WC, GMT_WB, GMT_WT, UNLIKE },
	{ GMT_SVM_OLD, 0, ASK_WB, GMT_UC, GMT_WB, 0 },
	{ GMT_SVM_SERIES, 0, ASK_WC, GMT_WC, GMT_WB, UNLIKE },
	{ GMT_SVM_SERIES, ASSIGNED, ASK_WC, GMT_WB, GMT_WC_PLUS, 0 },
	{ GMT_SVM_SERIES, DEVICE | ASSIGNED, ASK_UC_MINUS, GMT_WC, GMT_WC, UNLIKE },
	{ GMT_SVM_SERIES, DEVICE | ASSIGNED, ASK_WC, GMT_UC, GMT_WC, 0 },
	/* WT is entry 7 of the host's PAT, 3 without the third bit: UC; WP likewise 5, 1: WC */
	{ GMT_SVM_SERIES, ASSIGNED, ASK_WB, GMT_WT, GMT_WT, UNLIKE },
	{ GMT_SVM_SERIES, ASSIGNED | LARGE, ASK_WB, GMT_WT, GMT_CD, UNLIKE },
	{ GMT_SVM_SERIES, ASSIGNED | LARGE, ASK_WB, GMT_WP, GMT_WC, UNLIKE },
	{ GMT_SVM_4_14, DEVICE, ASK_WC, GMT_UC, GMT_WC, 0 },
	{ GMT_SVM_4_14, DEVICE, ASK_UC_MINUS, GMT_WC, GMT_UC, 0 },
	{ GMT_SVM_4_14, DEVICE, ASK_WB, GMT_WC, GMT_UC, UNLIKE },
	{ GMT_SVM_4_14, 0, ASK_WC, GMT_UC, GMT_WC_PLUS, 0 },
	{ GMT_SVM_4_14, 0, ASK_UC, GMT_UC, GMT_CD, 0 },
	{ GMT_SVM_4_14, 0, ASK_WB, GMT_UC, GMT_WB, 0 },

	{ GMT_SHADOW, DEVICE, ASK_WC, GMT_WC, GMT_UC, UNLIKE },
	{ GMT_SHADOW, 0, ASK_WC, GMT_WC, GMT_WB, UNLIKE },
};

static void host_policy_rows(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct policy_row *row = &rows[i];
		struct gmt_host host = {
			.policy = row->policy,
			.pat = PAT_LINUX,
			.noncoherent = row->holds & NONCOHERENT,
			.assigned = row->holds & ASSIGNED,
			.honours_pat = row->holds & HONOURS_PAT,
			.keeps_caches_on = !(row->holds & CACHES_OFF),
			.self_snoop = !(row->holds & NO_SELF_SNOOP),
		};
		struct gmt_page page = {
			.device = row->holds & DEVICE,
			.large = row->holds & LARGE,
			.pat_index = row->index,
			.pat = PAT_LINUX,
			.mtrr = row->mtrr,
			.host_mtrr = row->holds & DEVICE ? GMT_UC : GMT_WB,
			.cache_disabled = row->holds & CD,
		};
		struct gmt_effect effect = gmt_resolve(&host, &page);

		KUNIT_EXPECT_STREQ_MSG(test, gmt_type_name(effect.type), gmt_type_name(row->type),
				       "row %u: %s", i, gmt_policy_name(row->policy));
		KUNIT_EXPECT_EQ_MSG(test, effect.unlike_asked, !!(row->effect & UNLIKE),
				    "row %u: %s", i, gmt_policy_name(row->policy));
		KUNIT_EXPECT_EQ_MSG(test, effect.cached_device, !!(row->effect & CACHED_DEVICE),
				    "row %u: %s", i, gmt_policy_name(row->policy));
	}
}

/* The mapping of 2015 from MTRR types to entries of the host's PAT. */
static const struct {
	u64 pat;
	enum gmt_type type;
	enum gmt_fit fit;
	u64 pte_bits;
} fits[] = {
	{ PAT_LINUX, GMT_UC, GMT_FIT_EXACT, 0x18 },
	{ PAT_LINUX, GMT_UC_MINUS, GMT_FIT_EXACT, 0x10 },
	{ PAT_LINUX, GMT_WC, GMT_FIT_EXACT, 0x08 },
	{ PAT_LINUX, GMT_WT, GMT_FIT_EXACT, 0x98 },
	{ PAT_LINUX, GMT_WP, GMT_FIT_EXACT, 0x88 },
	{ PAT_LINUX, GMT_WB, GMT_FIT_EXACT, 0x00 },
	{ PAT_OLD_CPUS, GMT_WT, GMT_FIT_STRICTER, 0x18 },
	{ PAT_OLD_CPUS, GMT_WP, GMT_FIT_STRICTER, 0x10 },
	{ 0x0407010600070106ULL, GMT_WP, GMT_FIT_STRICTER, 0x10 },
	{ PAT_POWER_ON, GMT_WT, GMT_FIT_EXACT, 0x08 },
	{ PAT_POWER_ON, GMT_WC, GMT_FIT_FATAL, 0x10 },
	{ 0x0407050600070406ULL, GMT_WC, GMT_FIT_FATAL, 0x10 },
	{ 0x0405040600000106ULL, GMT_UC_MINUS, GMT_FIT_FATAL, 0x10 },
	{ 0x0404040604040106ULL, GMT_UC, GMT_FIT_NONE, 0 },
	{ PAT_LINUX, GMT_INVALID, GMT_FIT_NONE, 0 },
};

static void host_policy_fits(struct kunit *test)
{
	unsigned int i, index = 0;

	for (i = 0; i < ARRAY_SIZE(fits); i++) {
		enum gmt_fit fit = gmt_pat_fit(fits[i].pat, fits[i].type, &index);

		KUNIT_EXPECT_EQ_MSG(test, fit, fits[i].fit, "row %u", i);
		if (fit == GMT_FIT_NONE)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, gmt_pat_pte_bits(index), fits[i].pte_bits,
				    "row %u", i);
	}
}

static void host_policy_pat_without_uncached(struct kunit *test)
{
	struct gmt_host host = {
		.policy = GMT_SVM_SERIES, .pat = 0x0404040604040106ULL, .assigned = true,
	};
	struct gmt_page page = {
		.device = true, .pat = PAT_LINUX, .mtrr = GMT_UC, .host_mtrr = GMT_UC,
	};

	KUNIT_EXPECT_EQ(test, gmt_resolve(&host, &page).type, GMT_INVALID);
}

static void host_policy_vendors(struct kunit *test)
{
	enum gmt_policy policy;

	for (policy = 0; policy < GMT_POLICIES; policy++) {
		enum gmt_vendor vendor = gmt_policy_vendor(policy);
		const char *name = gmt_policy_name(policy);

		KUNIT_EXPECT_EQ(test, vendor == GMT_VENDOR_INTEL, !strncmp(name, "Intel", 5));
		KUNIT_EXPECT_EQ(test, vendor == GMT_VENDOR_AMD, !strncmp(name, "AMD", 3));
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(host_policy_rows),
	KUNIT_CASE(host_policy_fits),
	KUNIT_CASE(host_policy_pat_without_uncached),
	KUNIT_CASE(host_policy_vendors),
	{}
};

static struct kunit_suite suite = {
	.name = "guest_memtype_host_policy",
	.test_cases = cases,
};

kunit_test_suite(suite);
