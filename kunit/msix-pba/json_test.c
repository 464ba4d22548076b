// SPDX-License-Identifier: GPL-2.0
/* JSON: commas, brackets, and what strings may hold. */
#include <kunit/test.h>
#include <linux/string.h>

#include "../../drivers/json.h"

#define TEXT_SIZE 256

/**
 * struct string_row - a string, and how JSON has it
 * @name: what is in it
 * @text: the string
 * @json: with its quotes
 */
struct string_row {
	const char *name;
	const char *text;
	const char *json;
};

static const struct string_row string_rows[] = {
	{ "nothing", "", "\"\"" },
	{ "an address", "0000:00:05.0", "\"0000:00:05.0\"" },
	{ "quotes", "a \"b\" c", "\"a \\\"b\\\" c\"" },
	{ "a backslash", "a\\b", "\"a\\\\b\"" },
	{ "a newline", "a\nb", "\"a\\u000ab\"" },
	{ "control characters", "\x01\t\x1f", "\"\\u0001\\u0009\\u001f\"" },
	{ "a percent sign", "100 %s %n", "\"100 %s %n\"" },
	{ "a slash and a delete", "/\x7f", "\"/\x7f\"" },
	{ "UTF-8", "\xc3\xa9", "\"\xc3\xa9\"" },
	{ "a closing tag", "</script>", "\"</script>\"" },
};

KUNIT_ARRAY_PARAM_DESC(strings, string_rows, name);

static void json_string(struct kunit *test)
{
	const struct string_row *row = test->param_value;
	char text[TEXT_SIZE] = "";
	struct seq_buf out;
	struct json json = { .out = &out };

	seq_buf_init(&out, text, sizeof(text));
	json_text(&json, NULL, row->text);
	KUNIT_EXPECT_STREQ(test, text, row->json);
}

static void json_key_is_escaped(struct kunit *test)
{
	char text[TEXT_SIZE] = "";
	struct seq_buf out;
	struct json json = { .out = &out };

	seq_buf_init(&out, text, sizeof(text));
	json_open(&json, NULL, '{');
	json_number(&json, "a\"b", 1);
	json_close(&json, '}');
	KUNIT_EXPECT_STREQ(test, text, "{\"a\\\"b\": 1}");
}

static void json_commas(struct kunit *test)
{
	char text[TEXT_SIZE] = "";
	struct seq_buf out;
	struct json json = { .out = &out };

	seq_buf_init(&out, text, sizeof(text));
	json_open(&json, NULL, '{');
	json_open(&json, "empty", '{');
	json_close(&json, '}');
	json_open(&json, "list", '[');
	json_number(&json, NULL, 0);
	json_number(&json, NULL, U64_MAX);
	json_open(&json, NULL, '{');
	json_close(&json, '}');
	json_close(&json, ']');
	json_close(&json, '}');
	KUNIT_EXPECT_STREQ(test, text, "{\"empty\": {}, \"list\": [0, 18446744073709551615, {}]}");
}

static void json_words(struct kunit *test)
{
	char text[TEXT_SIZE] = "";
	struct seq_buf out;
	struct json json = { .out = &out };

	seq_buf_init(&out, text, sizeof(text));
	json_open(&json, NULL, '{');
	json_bool(&json, "yes", true);
	json_bool(&json, "no", false);
	json_null(&json, "none");
	json_close(&json, '}');
	KUNIT_EXPECT_STREQ(test, text, "{\"yes\": true, \"no\": false, \"none\": null}");
}

/* What does not fit is told, and nothing is written behind the buffer. */
static void json_too_long(struct kunit *test)
{
	char text[9] = "12345678";
	struct seq_buf out;
	struct json json = { .out = &out };

	seq_buf_init(&out, text, 4);
	json_text(&json, NULL, "longer than that");
	KUNIT_EXPECT_TRUE(test, seq_buf_has_overflowed(&out));
	KUNIT_EXPECT_STREQ(test, text + 4, "5678");
}

static struct kunit_case json_cases[] = {
	KUNIT_CASE_PARAM(json_string, strings_gen_params),
	KUNIT_CASE(json_key_is_escaped),
	KUNIT_CASE(json_commas),
	KUNIT_CASE(json_words),
	KUNIT_CASE(json_too_long),
	{}
};

static struct kunit_suite json_suite = {
	.name = "msix_pba_json",
	.test_cases = json_cases,
};

kunit_test_suite(json_suite);
