// SPDX-License-Identifier: GPL-2.0
/* What is read from configuration space. */
#include <kunit/test.h>

#include "fake_function.h"
#include "function.h"
#include "probe.h"

/* 4 vectors at 0, PBA at 0x1000. */
static const struct fake_function_params sound = { .control = 3, .table = 0x0, .pba = 0x1000 };

static void probe_no_msix(struct kunit *test)
{
	static const struct fake_function_params without = { .no_msix = true };
	struct fake_function *fake = fake_function_plug(test, &without);
	struct msix_config config;

	KUNIT_EXPECT_STREQ(test, msix_probe(fake->pdev, &config), "it has no MSI-X capability");
	KUNIT_EXPECT_EQ(test, msix_function_add(fake->pdev), -ENODEV);
	fake->answers = 0;
	KUNIT_EXPECT_STREQ(test, msix_probe(fake->pdev, &config), "it does not answer");
}

static void probe_config(struct kunit *test)
{
	struct fake_function *fake = fake_function_plug(test, &sound);
	struct msix_config config;

	KUNIT_ASSERT_NULL(test, msix_probe(fake->pdev, &config));
	KUNIT_EXPECT_EQ(test, config.control, 3);
	KUNIT_EXPECT_EQ(test, config.table, 0);
	KUNIT_EXPECT_EQ(test, config.pba, 0x1000);
	KUNIT_EXPECT_EQ(test, config.bars, 6);
	KUNIT_EXPECT_EQ(test, config.bar[0].size, FAKE_BAR_SIZE);
	KUNIT_EXPECT_TRUE(test, config.bar[0].memory);
	KUNIT_EXPECT_FALSE(test, config.bar[1].upper_half);
	KUNIT_EXPECT_EQ(test, config.bar[1].size, 0);

	fake->pdev->resource[0].flags |= IORESOURCE_MEM_64;
	KUNIT_ASSERT_NULL(test, msix_probe(fake->pdev, &config));
	fake->pdev->resource[0].flags &= ~IORESOURCE_MEM_64;
	KUNIT_EXPECT_TRUE(test, config.bar[1].upper_half);
}

static void probe_header_types(struct kunit *test)
{
	static const struct { u8 type; unsigned int bars; } headers[] = {
		{ PCI_HEADER_TYPE_NORMAL, 6 }, { PCI_HEADER_TYPE_BRIDGE, 2 },
			{ PCI_HEADER_TYPE_CARDBUS, 0 },
	};
	struct fake_function *fake = fake_function_plug(test, &sound);
	u8 type = fake->pdev->hdr_type;
	struct msix_config config;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(headers); i++) {
		fake->pdev->hdr_type = headers[i].type;
		/* where capabilities begin depends on the type, too */
		if (!msix_probe(fake->pdev, &config))
			KUNIT_EXPECT_EQ(test, config.bars, headers[i].bars);
		else
			KUNIT_EXPECT_EQ(test, headers[i].bars, 0);
	}
	fake->pdev->hdr_type = type;
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(probe_no_msix),
	KUNIT_CASE(probe_config),
	KUNIT_CASE(probe_header_types),
	{}
};

static struct kunit_suite probe_suite = {
	.name = "msix_pba_probe",
	.test_cases = probe_cases,
};

kunit_test_suite(probe_suite);
