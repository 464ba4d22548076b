// SPDX-License-Identifier: GPL-2.0
/* Functions that are looked at, and their files, read and written as a user would. */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/string.h>

#include "fake_function.h"
#include "function.h"

#define DIRECTORY "/sys/bus/pci/devices/" FAKE_NAME "/msix_pba/"

/* 4 vectors at 0, PBA at 0x1000. */
static const struct fake_function_params sound = { .control = 3, .table = 0x0, .pba = 0x1000 };

static void drop(void *pdev)
{
	msix_function_drop(pdev);
}

/* A function that is looked at until the test ends. */
static struct fake_function *look_at(struct kunit *test, const struct fake_function_params *params)
{
	struct fake_function *fake = fake_function_plug(test, params);

	KUNIT_ASSERT_EQ(test, msix_function_add(fake->pdev), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop, fake->pdev), 0);
	return fake;
}

static bool there(const char *name)
{
	struct file *file = filp_open(name, O_RDONLY, 0);

	if (IS_ERR(file))
		return false;
	filp_close(file, NULL);
	return true;
}

static char *read_text(struct kunit *test, const char *name)
{
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct file *file = filp_open(name, O_RDONLY, 0);
	loff_t at = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_GT(test, kernel_read(file, text, PAGE_SIZE - 1, &at), 0);
	filp_close(file, NULL);
	return text;
}

/* Returns 0 or the error. */
static int measure(const char *request)
{
	struct file *file = filp_open(DIRECTORY "measure", O_WRONLY, 0);
	loff_t at = 0;
	ssize_t len;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_write(file, request, strlen(request), &at);
	filp_close(file, NULL);
	return len < 0 ? len : 0;
}

static bool shows(struct kunit *test, const char *name, const char *text)
{
	return strstr(read_text(test, name), text);
}

static bool measured(struct kunit *test)
{
	return shows(test, DIRECTORY "measure", "verdict: ");
}

static void function_files(struct kunit *test)
{
	struct fake_function *fake = look_at(test, &sound);

	KUNIT_EXPECT_TRUE(test, shows(test, DIRECTORY "layout",
				      "pba: bar 0, offset 0x1000, 8 bytes, pages 0x1000-0x1fff\n"));
	KUNIT_EXPECT_TRUE(test, shows(test, DIRECTORY "json",
				      "{\"device\": \"" FAKE_NAME "\", "));
	KUNIT_EXPECT_FALSE(test, measured(test));

	/* once more makes no difference */
	KUNIT_EXPECT_EQ(test, msix_function_add(fake->pdev), 0);
	msix_function_drop(fake->pdev);
	KUNIT_EXPECT_FALSE(test, there(DIRECTORY "layout"));
	msix_function_drop(fake->pdev);
}

static void function_drop_all(struct kunit *test)
{
	look_at(test, &sound);
	msix_functions_drop_all();
	KUNIT_EXPECT_FALSE(test, there(DIRECTORY "layout"));
}

static const struct fake_function_params hot[] = {
	{ .control = 3, .table = 0x0, .pba = 0x1800 },
	{ .control = 3, .table = 0x800, .pba = 0x1000 },
};

static void hot_name(const struct fake_function_params *params, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "table at %#x, PBA at %#x", params->table,
		 params->pba);
}

KUNIT_ARRAY_PARAM(hot, hot, hot_name);

static void function_hot_page(struct kunit *test)
{
	look_at(test, test->param_value);
	KUNIT_EXPECT_TRUE(test, shows(test, DIRECTORY "layout", "with possibly registers\n"));
}

static void function_malformed(struct kunit *test)
{
	static const struct fake_function_params overlapping = { .control = 3, .table = 0x0,
		.pba = 0x8 };

	look_at(test, &overlapping);
	KUNIT_EXPECT_TRUE(test, shows(test, DIRECTORY "layout", "fault: table and PBA overlap\n"));
	KUNIT_EXPECT_EQ(test, measure("pba"), -EINVAL);
	KUNIT_EXPECT_EQ(test, measure("bar0+0"), 0);
}

/* An old result is no answer to a new request. */
static void function_measurement(struct kunit *test)
{
	look_at(test, &sound);
	KUNIT_EXPECT_EQ(test, measure("pba\n"), 0);
	KUNIT_EXPECT_TRUE(test, measured(test));
	KUNIT_EXPECT_EQ(test, measure("bar0+0x4000"), -EINVAL);
	KUNIT_EXPECT_FALSE(test, measured(test));
	KUNIT_EXPECT_EQ(test, measure("pba bar0+0x3ffc"), 0);
	KUNIT_EXPECT_TRUE(test, shows(test, DIRECTORY "json", "\"measurement\": {"));
}

static struct kunit_case function_cases[] = {
	KUNIT_CASE(function_files),
	KUNIT_CASE(function_drop_all),
	KUNIT_CASE_PARAM(function_hot_page, hot_gen_params),
	KUNIT_CASE(function_malformed),
	KUNIT_CASE(function_measurement),
	{}
};

static struct kunit_suite function_suite = {
	.name = "msix_pba_function",
	.test_cases = function_cases,
};

kunit_test_suite(function_suite);
