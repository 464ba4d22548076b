// SPDX-License-Identifier: GPL-2.0
/*
 * The attach contract, every cell. What is expected is the contract written down
 * as tables, not as branches: what holds of a device is a set of bits, and a row
 * of a table says for which sets it is meant.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "policy.h"

/* What can hold of a device. */
#define OFFERED		BIT(0)
#define TRANSLATED	BIT(1)
#define ENCRYPTED	BIT(2)
#define INCOHERENT	BIT(3)
#define OFFSET		BIT(4)
#define UNKNOWN		BIT(5)
#define XEN		BIT(6)
/* What can hold of a type. */
#define RAW		BIT(7)
#define NEVER		BIT(8)
#define ON_REQUEST	BIT(9)
#define LATE		BIT(10)
#define TWICE		BIT(11)
/* Who has asked for a path. */
#define RULE		BIT(12)
#define HOOK		BIT(13)

/* Sets of paths. */
#define OFF		BIT(VIRTIO_DMA_OFF)
#define DIRECT		BIT(VIRTIO_DMA_DIRECT)
#define PLATFORM	BIT(VIRTIO_DMA_PLATFORM)
#define SWIOTLB		BIT(VIRTIO_DMA_SWIOTLB)
#define BOUNCE		BIT(VIRTIO_DMA_BOUNCE)
#define ALL		(OFF | DIRECT | PLATFORM | SWIOTLB | BOUNCE)

/**
 * struct contract_row - what a device may have, by what it takes for an address
 * @offered: it offers VIRTIO_F_ACCESS_PLATFORM
 * @domain: what stands between it and memory
 * @allowed: the paths that it may have
 */
struct contract_row {
	bool offered;
	enum vdma_domain domain;
	unsigned long allowed;
};

static const struct contract_row contract[] = {
	{ false, VDMA_DOMAIN_NONE,		ALL },
	{ false, VDMA_DOMAIN_IDENTITY,		ALL },
	{ false, VDMA_DOMAIN_TRANSLATED,	OFF | DIRECT | SWIOTLB | BOUNCE },
	{ true,  VDMA_DOMAIN_NONE,		ALL },
	{ true,  VDMA_DOMAIN_IDENTITY,		ALL },
	{ true,  VDMA_DOMAIN_TRANSLATED,	OFF | PLATFORM },
};

/**
 * struct exception - what is refused beyond the contract's rows
 * @facts: holds for devices of which all of these hold
 * @unless: and none of these
 * @refused: the paths that they may not have
 */
struct exception {
	unsigned long facts;
	unsigned long unless;
	unsigned long refused;
};

static const struct exception exceptions[] = {
	/* private pages */
	{ ENCRYPTED,		0,		DIRECT },
	/* nothing here does cache maintenance, and what was not offered needs none */
	{ INCOHERENT | OFFERED,	0,		DIRECT | BOUNCE },
	/* only the platform knows where the bus counts from, and only if the device asks it */
	{ OFFSET,		OFFERED,	ALL & ~OFF },
	{ OFFSET | OFFERED,	0,		ALL & ~OFF & ~PLATFORM },
	/* a late unmap must find the operations that mapped, or ones that have nothing to do */
	{ LATE,			0,		BOUNCE },
	{ LATE | TRANSLATED,	0,		DIRECT | SWIOTLB },
	/* two copies of one buffer */
	{ TWICE,		0,		BOUNCE | SWIOTLB },
	/* not for us at all */
	{ UNKNOWN,		0,		ALL & ~OFF },
	{ XEN,			0,		ALL & ~OFF },
	{ NEVER,		0,		ALL & ~OFF },
};

/**
 * struct choice - one step of the order of choice
 * @fact: what has to hold for the step to decide
 * @path: the path; of a rule and of the hook, the one they name
 * @reason: the reason; of a rule, its own
 */
struct choice {
	unsigned long fact;
	enum virtio_dma_path path;
	enum vdma_reason reason;
};

static const struct choice order[] = {
	{ RULE,		VIRTIO_DMA_AUTO,	VDMA_BY_DEFAULT },
	{ HOOK,		VIRTIO_DMA_AUTO,	VDMA_BY_HOOK },
	{ UNKNOWN,	VIRTIO_DMA_OFF,		VDMA_LEFT_TRANSPORT },
	{ XEN,		VIRTIO_DMA_OFF,		VDMA_LEFT_XEN },
	{ RAW,		VIRTIO_DMA_OFF,		VDMA_LEFT_RAW },
	{ NEVER,	VIRTIO_DMA_OFF,		VDMA_LEFT_NEVER },
	{ ON_REQUEST,	VIRTIO_DMA_OFF,		VDMA_LEFT_UNTESTED },
	{ ENCRYPTED,	VIRTIO_DMA_BOUNCE,	VDMA_BY_ENCRYPTION },
	{ OFFERED,	VIRTIO_DMA_PLATFORM,	VDMA_BY_OFFER },
	{ 0,		VIRTIO_DMA_DIRECT,	VDMA_BY_DEFAULT },
};

/**
 * struct type_traits - what the contract has to say of a type
 * @id: its number, VIRTIO 1.3 section 5
 * @name: its name
 * @facts: what holds of it
 */
struct type_traits {
	u32 id;
	const char *name;
	unsigned long facts;
};

static const struct type_traits traits[] = {
	{ 1, "net", 0 },
	{ 2, "blk", 0 },
	{ 3, "console", ON_REQUEST },
	{ 4, "rng", ON_REQUEST },
	{ 5, "balloon", RAW },
	{ 7, "rpmsg", ON_REQUEST },
	{ 8, "scsi", ON_REQUEST },
	{ 9, "9p", ON_REQUEST },
	{ 16, "gpu", ON_REQUEST | LATE },
	{ 17, "rtc", ON_REQUEST },
	{ 18, "input", ON_REQUEST },
	{ 19, "vsock", ON_REQUEST },
	{ 20, "crypto", ON_REQUEST | TWICE },
	{ 23, "iommu", NEVER },
	{ 24, "mem", ON_REQUEST },
	{ 25, "sound", ON_REQUEST },
	{ 26, "fs", ON_REQUEST },
	{ 27, "pmem", ON_REQUEST },
	{ 32, "scmi", ON_REQUEST },
	{ 34, "i2c", ON_REQUEST },
	{ 36, "can", ON_REQUEST },
	{ 40, "bt", ON_REQUEST },
	{ 41, "gpio", ON_REQUEST },
	{ 4711, "unknown", ON_REQUEST },
};

KUNIT_ARRAY_PARAM_DESC(traits, traits, name);

/**
 * struct cell - one combination of all that the choice depends on
 * @facts: what holds of the device and of its type
 * @domain: what stands between the device and memory
 * @rule: what the user asks for
 * @rule_reason: where
 * @hook: what the hook answers, if it is asked
 */
struct cell {
	unsigned long facts;
	enum vdma_domain domain;
	enum virtio_dma_path rule;
	enum vdma_reason rule_reason;
	enum virtio_dma_path hook;
};

/**
 * struct expected - what has to come out
 * @path: the path
 * @reason: the reason
 * @refused: whether it is refused
 */
struct expected {
	enum virtio_dma_path path;
	enum vdma_reason reason;
	bool refused;
};

static unsigned long allowed_paths(const struct cell *cell)
{
	unsigned long allowed = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(contract); i++)
		if (contract[i].offered == !!(cell->facts & OFFERED) &&
		    contract[i].domain == cell->domain)
			allowed = contract[i].allowed;
	for (i = 0; i < ARRAY_SIZE(exceptions); i++)
		if ((cell->facts & exceptions[i].facts) == exceptions[i].facts &&
		    !(cell->facts & exceptions[i].unless))
			allowed &= ~exceptions[i].refused;
	return allowed;
}

static struct expected expected_of(const struct cell *cell)
{
	const struct choice *choice = order;
	struct expected expected;

	while (choice->fact && !(cell->facts & choice->fact))
		choice++;
	expected.path = choice->path;
	expected.reason = choice->reason;
	if (choice->fact == RULE) {
		expected.path = cell->rule;
		expected.reason = cell->rule_reason;
	} else if (choice->fact == HOOK) {
		expected.path = cell->hook;
	}
	expected.refused = !(allowed_paths(cell) & BIT(expected.path));
	return expected;
}

/* All bits but the one that matters are the other way round. */
static u64 features_of(unsigned long facts)
{
	u64 bit = BIT_ULL(VIRTIO_F_ACCESS_PLATFORM);

	return facts & OFFERED ? bit : ~bit;
}

/* Asks the hook when it is to be asked, as the caller of vdma_decide() does. */
static struct vdma_facts facts_of(const struct vdma_type *type, const struct cell *cell)
{
	struct vdma_facts facts = {
		.type = type,
		.transport_known = !(cell->facts & UNKNOWN),
		.xen = cell->facts & XEN,
		.features = features_of(cell->facts),
		.coherent = !(cell->facts & INCOHERENT),
		.offset = cell->facts & OFFSET,
		.encrypted = cell->facts & ENCRYPTED,
		.domain = cell->domain,
		.rule = cell->rule,
		.rule_reason = cell->rule_reason,
	};

	if (vdma_asks_hook(&facts)) {
		facts.hook = cell->hook;
		strscpy(facts.hook_name, "the platform", sizeof(facts.hook_name));
	}
	return facts;
}

static bool cell_is_right(const struct vdma_type *type, const struct cell *cell)
{
	struct expected expected = expected_of(cell);
	struct vdma_facts facts = facts_of(type, cell);
	struct vdma_decision d = vdma_decide(&facts);

	return d.path == expected.path && d.reason == expected.reason &&
	       !!d.refused == expected.refused && d.features == facts.features &&
	       !strcmp(d.hook_name, d.reason == VDMA_BY_HOOK ? "the platform" : "");
}

static void report_cell(struct kunit *test, const struct vdma_type *type,
			const struct cell *cell)
{
	struct expected expected = expected_of(cell);
	struct vdma_facts facts = facts_of(type, cell);
	struct vdma_decision d = vdma_decide(&facts);

	KUNIT_FAIL(test, "%s, facts %#lx, domain %d, rule %s (%s), hook %s:\n",
		   type->name, cell->facts, cell->domain, vdma_path_name(cell->rule),
		   vdma_reason_text(cell->rule_reason), vdma_path_name(cell->hook));
	KUNIT_FAIL(test, "path %s (%s, hook \"%s\"), refused: %s; expected %s (%s), %s\n",
		   vdma_path_name(d.path), vdma_reason_text(d.reason), d.hook_name,
		   d.refused ?: "no", vdma_path_name(expected.path),
		   vdma_reason_text(expected.reason),
		   expected.refused ? "refused" : "not refused");
}

/* A mistake in one table is wrong in thousands of cells. */
#define MOST_REPORTS 5

static void try_cell(struct kunit *test, const struct vdma_type *type,
		     const struct cell *cell, unsigned int *wrong)
{
	if (!cell_is_right(type, cell) && ++*wrong <= MOST_REPORTS)
		report_cell(test, type, cell);
}

/* Balloons and IOMMUs are not for the hook to route, nor is what the user has. */
static bool hook_decides(const struct type_traits *type, enum virtio_dma_path rule,
			 enum virtio_dma_path hook)
{
	return !(type->facts & (RAW | NEVER)) && rule == VIRTIO_DMA_AUTO &&
	       hook != VIRTIO_DMA_AUTO;
}

/* Every path is asked for by several kinds of rule. */
static enum vdma_reason rule_reason(int rule, int hook)
{
	static const enum vdma_reason reasons[] = {
		VDMA_BY_TYPE_RULE, VDMA_BY_DEVICE_RULE, VDMA_BY_VIRTIO_RULE, VDMA_BY_SYSFS,
	};

	return reasons[(rule + hook) % ARRAY_SIZE(reasons)];
}

static void try_paths(struct kunit *test, const struct type_traits *traits,
		      unsigned long facts, enum vdma_domain domain, unsigned int *wrong)
{
	const struct vdma_type *type = vdma_type_by_id(traits->id);
	int rule, hook;

	for (rule = 0; rule < VIRTIO_DMA_PATHS; rule++) {
		for (hook = 0; hook < VIRTIO_DMA_PATHS; hook++) {
			struct cell cell = {
				.facts = facts | traits->facts,
				.domain = domain,
				.rule = rule,
				.rule_reason = rule_reason(rule, hook),
				.hook = hook,
			};

			if (domain == VDMA_DOMAIN_TRANSLATED)
				cell.facts |= TRANSLATED;
			if (rule != VIRTIO_DMA_AUTO)
				cell.facts |= RULE;
			if (hook_decides(traits, rule, hook))
				cell.facts |= HOOK;
			try_cell(test, type, &cell, wrong);
		}
	}
}

static void policy_every_cell(struct kunit *test)
{
	static const unsigned long device_facts[] = {
		OFFERED, ENCRYPTED, INCOHERENT, OFFSET, UNKNOWN, XEN,
	};
	const struct type_traits *traits = test->param_value;
	unsigned int set, wrong = 0;
	int domain;
	size_t i;

	KUNIT_ASSERT_STREQ(test, vdma_type_by_id(traits->id)->name, traits->name);
	for (set = 0; set < BIT(ARRAY_SIZE(device_facts)); set++) {
		unsigned long facts = 0;

		for (i = 0; i < ARRAY_SIZE(device_facts); i++)
			if (set & BIT(i))
				facts |= device_facts[i];
		for (domain = VDMA_DOMAIN_NONE; domain <= VDMA_DOMAIN_TRANSLATED; domain++)
			try_paths(test, traits, facts, domain, &wrong);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* A type that is added without a row here would not be tried. */
static void policy_knows_all_types(struct kunit *test)
{
	const struct vdma_type *unknown = vdma_type_by_id(U32_MAX);
	unsigned int id, i, known;

	for (id = 0; id < 4096; id++) {
		const struct vdma_type *type = vdma_type_by_id(id);

		for (i = 0, known = 0; i < ARRAY_SIZE(traits); i++)
			known += traits[i].id == id;
		KUNIT_EXPECT_EQ_MSG(test, known, type != unknown, "type %u (%s)", id,
				    type->name);
	}
}

/**
 * struct example - one device, as a person would describe it
 * @name: what it is
 * @id: number of its type
 * @facts: what holds of it
 * @domain: what stands between it and memory
 * @rule: the user's rule, or VIRTIO_DMA_AUTO
 * @rule_reason: where the rule is
 * @hook: the hook's answer, or VIRTIO_DMA_AUTO
 * @path: the path that is chosen
 * @reason: why, in words
 * @refused: why not, in words, or NULL
 */
struct example {
	const char *name;
	u32 id;
	unsigned long facts;
	enum vdma_domain domain;
	enum virtio_dma_path rule;
	enum vdma_reason rule_reason;
	enum virtio_dma_path hook;
	enum virtio_dma_path path;
	const char *reason;
	const char *refused;
};

#define NOT_IOMMU_ADDRESSES \
	"IOMMU addresses are not what this device takes: choose direct, bounce or swiotlb"
#define BUS_OFFSET \
	"the device's bus counts addresses from elsewhere (dma-ranges): choose off"

static const struct example examples[] = {
	{
		.name = "a disk of an old machine",
		.id = 2,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "default",
	}, {
		.name = "a disk behind a virtual IOMMU that asks for translated addresses",
		.id = 2,
		.facts = OFFERED,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.path = VIRTIO_DMA_PLATFORM,
		.reason = "device offers VIRTIO_F_ACCESS_PLATFORM",
	}, {
		.name = "a disk behind a virtual IOMMU that does not ask",
		.id = 2,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "default",
	}, {
		.name = "the same, platform by rule",
		.id = 2,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.rule = VIRTIO_DMA_PLATFORM,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_PLATFORM,
		.reason = "rule for the device type",
		.refused = NOT_IOMMU_ADDRESSES,
	}, {
		.name = "a NIC behind a translating IOMMU, direct by rule",
		.id = 1,
		.facts = OFFERED,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.rule = VIRTIO_DMA_DIRECT,
		.rule_reason = VDMA_BY_DEVICE_RULE,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "rule for the device",
		.refused = "an IOMMU translates this device's addresses: choose platform",
	}, {
		.name = "a NIC behind a translating IOMMU, bounce by rule",
		.id = 1,
		.facts = OFFERED,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_VIRTIO_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the virtio device",
		.refused = "an IOMMU translates this device's addresses: choose platform",
	}, {
		.name = "a NIC behind a translating IOMMU, swiotlb by hook",
		.id = 1,
		.facts = OFFERED,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.hook = VIRTIO_DMA_SWIOTLB,
		.path = VIRTIO_DMA_SWIOTLB,
		.reason = "hook",
		.refused = "an IOMMU translates this device's addresses: choose platform",
	}, {
		.name = "a NIC behind an IOMMU in passthrough, direct through sysfs",
		.id = 1,
		.facts = OFFERED,
		.domain = VDMA_DOMAIN_IDENTITY,
		.rule = VIRTIO_DMA_DIRECT,
		.rule_reason = VDMA_BY_SYSFS,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "sysfs",
	}, {
		.name = "a NIC in a confidential guest",
		.id = 1,
		.facts = OFFERED | ENCRYPTED,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "guest memory is encrypted",
	}, {
		.name = "a NIC in a confidential guest, direct by rule",
		.id = 1,
		.facts = OFFERED | ENCRYPTED,
		.rule = VIRTIO_DMA_DIRECT,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "rule for the device type",
		.refused = "the device cannot read encrypted memory: choose bounce",
	}, {
		.name = "a disk of a confidential guest, behind a translating IOMMU",
		.id = 2,
		.facts = OFFERED | ENCRYPTED,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "guest memory is encrypted",
		.refused = "an IOMMU translates this device's addresses: choose platform",
	}, {
		.name = "a disk, swiotlb by rule, and the hook wants bounce",
		.id = 2,
		.rule = VIRTIO_DMA_SWIOTLB,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.hook = VIRTIO_DMA_BOUNCE,
		.path = VIRTIO_DMA_SWIOTLB,
		.reason = "rule for the device type",
	}, {
		.name = "a disk that the hook leaves stock",
		.id = 2,
		.facts = OFFERED,
		.hook = VIRTIO_DMA_OFF,
		.path = VIRTIO_DMA_OFF,
		.reason = "hook",
	}, {
		.name = "a balloon, and the hook wants bounce",
		.id = 5,
		.facts = ENCRYPTED,
		.hook = VIRTIO_DMA_BOUNCE,
		.path = VIRTIO_DMA_OFF,
		.reason = "left alone: the type passes page numbers, not DMA addresses",
	}, {
		.name = "a balloon by rule",
		.id = 5,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the device type",
	}, {
		.name = "a virtual IOMMU",
		.id = 23,
		.facts = OFFERED,
		.path = VIRTIO_DMA_OFF,
		.reason = "left alone: an IOMMU cannot stand behind itself",
	}, {
		.name = "a virtual IOMMU, direct by a rule for its address",
		.id = 23,
		.rule = VIRTIO_DMA_DIRECT,
		.rule_reason = VDMA_BY_DEVICE_RULE,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "rule for the device",
		.refused = "an IOMMU cannot stand behind itself: choose off",
	}, {
		.name = "a random number generator",
		.id = 4,
		.facts = OFFERED,
		.path = VIRTIO_DMA_OFF,
		.reason = "left alone: type without a test; name it in a rule to route it",
	}, {
		.name = "a graphics card, bounce by rule",
		.id = 16,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the device type",
		.refused = "this type unmaps buffers after its driver is gone: choose off",
	}, {
		.name = "a graphics card, not asking its translating IOMMU, direct by rule",
		.id = 16,
		.domain = VDMA_DOMAIN_TRANSLATED,
		.rule = VIRTIO_DMA_DIRECT,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "rule for the device type",
		.refused = "this type unmaps buffers after its driver is gone: choose off",
	}, {
		.name = "a crypto device, bounce by rule",
		.id = 20,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the device type",
		.refused = "this type maps one buffer several times at once: choose direct",
	}, {
		.name = "a crypto device, swiotlb by rule",
		.id = 20,
		.rule = VIRTIO_DMA_SWIOTLB,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_SWIOTLB,
		.reason = "rule for the device type",
		.refused = "this type maps one buffer several times at once: choose direct",
	}, {
		.name = "a disk on a transport that is not known",
		.id = 2,
		.facts = UNKNOWN,
		.path = VIRTIO_DMA_OFF,
		.reason = "left alone: not on virtio-pci or virtio-mmio",
	}, {
		.name = "a disk on a transport that is not known, bounce by rule",
		.id = 2,
		.facts = UNKNOWN,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the device type",
		.refused = "only virtio-pci and virtio-mmio devices can be routed: choose off",
	}, {
		.name = "a disk under Xen",
		.id = 2,
		.facts = XEN,
		.path = VIRTIO_DMA_OFF,
		.reason = "left alone: Xen gives virtio its own addresses",
	}, {
		.name = "a disk under Xen, direct by hook",
		.id = 2,
		.facts = XEN,
		.hook = VIRTIO_DMA_DIRECT,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "hook",
		.refused = "Xen gives virtio its own addresses: choose off",
	}, {
		.name = "a disk without cache coherence that asks the platform, bounce by rule",
		.id = 2,
		.facts = OFFERED | INCOHERENT,
		.rule = VIRTIO_DMA_BOUNCE,
		.rule_reason = VDMA_BY_TYPE_RULE,
		.path = VIRTIO_DMA_BOUNCE,
		.reason = "rule for the device type",
		.refused = "the device needs cache maintenance: choose platform",
	}, {
		.name = "a disk on a bus with an offset",
		.id = 2,
		.facts = OFFSET,
		.path = VIRTIO_DMA_DIRECT,
		.reason = "default",
		.refused = BUS_OFFSET,
	}, {
		.name = "a disk on a bus with an offset that asks the platform",
		.id = 2,
		.facts = OFFERED | OFFSET,
		.path = VIRTIO_DMA_PLATFORM,
		.reason = "device offers VIRTIO_F_ACCESS_PLATFORM",
	}, {
		.name = "a disk with a path that there is not",
		.id = 2,
		.rule = VIRTIO_DMA_PATHS,
		.rule_reason = VDMA_BY_SYSFS,
		.path = VIRTIO_DMA_PATHS,
		.reason = "sysfs",
		.refused = "no such path",
	}, {
		.name = "a disk with a hook that answers nonsense",
		.id = 2,
		.hook = 77,
		.path = 77,
		.reason = "hook",
		.refused = "no such path",
	},
};

KUNIT_ARRAY_PARAM_DESC(examples, examples, name);

static void policy_example(struct kunit *test)
{
	const struct example *example = test->param_value;
	const struct cell cell = {
		.facts = example->facts,
		.domain = example->domain,
		.rule = example->rule,
		.rule_reason = example->rule_reason,
		.hook = example->hook,
	};
	struct vdma_facts facts = facts_of(vdma_type_by_id(example->id), &cell);
	struct vdma_decision d = vdma_decide(&facts);

	KUNIT_EXPECT_EQ_MSG(test, d.path, example->path, "%s", example->name);
	KUNIT_EXPECT_STREQ_MSG(test, vdma_reason_text(d.reason), example->reason, "%s",
			       example->name);
	if (example->refused)
		KUNIT_EXPECT_STREQ_MSG(test, d.refused, example->refused, "%s", example->name);
	else
		KUNIT_EXPECT_NULL_MSG(test, d.refused, "%s", example->name);
	KUNIT_EXPECT_EQ_MSG(test, vdma_offered(&d), !!(example->facts & OFFERED), "%s",
			    example->name);
}

static void policy_hook_is_asked(struct kunit *test)
{
	size_t i;
	int rule;

	for (i = 0; i < ARRAY_SIZE(traits); i++) {
		for (rule = 0; rule < VIRTIO_DMA_PATHS; rule++) {
			const struct vdma_facts facts = {
				.type = vdma_type_by_id(traits[i].id),
				.rule = rule,
			};
			bool asked = !(traits[i].facts & (RAW | NEVER)) &&
				     rule == VIRTIO_DMA_AUTO;

			KUNIT_EXPECT_EQ_MSG(test, vdma_asks_hook(&facts), asked, "%s, rule %s",
					    traits[i].name, vdma_path_name(rule));
		}
	}
}

static const char * const path_names[] = {
	"auto", "off", "direct", "platform", "swiotlb", "bounce",
};

static void policy_path_names(struct kunit *test)
{
	int path;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(path_names), VIRTIO_DMA_PATHS);
	for (path = 0; path < VIRTIO_DMA_PATHS; path++)
		KUNIT_EXPECT_STREQ(test, vdma_path_name(path), path_names[path]);
	KUNIT_EXPECT_STREQ(test, vdma_path_name(VIRTIO_DMA_PATHS), "invalid");
	KUNIT_EXPECT_STREQ(test, vdma_path_name(-1), "invalid");
	KUNIT_EXPECT_STREQ(test, vdma_path_name(INT_MAX), "invalid");
}

/* In memory of just their size, so that KASAN sees a look beyond the end. */
static void expect_path(struct kunit *test, const char *name, size_t len,
			enum virtio_dma_path path)
{
	char *bare = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bare);
	memcpy(bare, name, len);
	KUNIT_EXPECT_EQ_MSG(test, vdma_path_by_name(bare, len), path, "%.*s, %zu bytes",
			    (int)len, name, len);
}

static void policy_path_by_name(struct kunit *test)
{
	size_t len;
	int path;

	for (path = 0; path < VIRTIO_DMA_PATHS; path++) {
		const char *name = path_names[path];

		expect_path(test, name, strlen(name), path);
		for (len = 0; len < strlen(name); len++)
			expect_path(test, name, len, VIRTIO_DMA_PATHS);
		/* the terminator is no part of it */
		expect_path(test, name, strlen(name) + 1, VIRTIO_DMA_PATHS);
	}
	expect_path(test, "offer", 3, VIRTIO_DMA_OFF);
	expect_path(test, "offer", 5, VIRTIO_DMA_PATHS);
	expect_path(test, "OFF", 3, VIRTIO_DMA_PATHS);
	expect_path(test, "off\n", 4, VIRTIO_DMA_PATHS);
	expect_path(test, " off", 4, VIRTIO_DMA_PATHS);
	expect_path(test, "invalid", 7, VIRTIO_DMA_PATHS);
}

static void policy_reason_texts(struct kunit *test)
{
	static const char * const texts[] = {
		[VDMA_BY_DEFAULT] = "default",
		[VDMA_BY_OFFER] = "device offers VIRTIO_F_ACCESS_PLATFORM",
		[VDMA_BY_ENCRYPTION] = "guest memory is encrypted",
		[VDMA_BY_HOOK] = "hook",
		[VDMA_BY_TYPE_RULE] = "rule for the device type",
		[VDMA_BY_DEVICE_RULE] = "rule for the device",
		[VDMA_BY_VIRTIO_RULE] = "rule for the virtio device",
		[VDMA_BY_SYSFS] = "sysfs",
		[VDMA_LEFT_TRANSPORT] = "left alone: not on virtio-pci or virtio-mmio",
		[VDMA_LEFT_XEN] = "left alone: Xen gives virtio its own addresses",
		[VDMA_LEFT_RAW] =
			"left alone: the type passes page numbers, not DMA addresses",
		[VDMA_LEFT_NEVER] = "left alone: an IOMMU cannot stand behind itself",
		[VDMA_LEFT_UNTESTED] =
			"left alone: type without a test; name it in a rule to route it",
		[VDMA_LEFT_BOUND] =
			"left alone: bound before the module came; write a path",
	};
	int reason;

	for (reason = 0; reason < ARRAY_SIZE(texts); reason++)
		KUNIT_EXPECT_STREQ(test, vdma_reason_text(reason), texts[reason]);
	KUNIT_EXPECT_STREQ(test, vdma_reason_text(ARRAY_SIZE(texts)), "invalid");
	KUNIT_EXPECT_STREQ(test, vdma_reason_text(-1), "invalid");
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE_PARAM(policy_every_cell, traits_gen_params),
	KUNIT_CASE(policy_knows_all_types),
	KUNIT_CASE_PARAM(policy_example, examples_gen_params),
	KUNIT_CASE(policy_hook_is_asked),
	KUNIT_CASE(policy_path_names),
	KUNIT_CASE(policy_path_by_name),
	KUNIT_CASE(policy_reason_texts),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "virtio_dma_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
