// SPDX-License-Identifier: GPL-2.0
/* JSON (RFC 8259) into a buffer. */
#include "json.h"

/* seq_buf_printf() is the one function of its kind that all kernels export. */
static void put_string(struct msix_json *json, const char *text)
{
	seq_buf_printf(json->out, "\"");
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			seq_buf_printf(json->out, "\\%c", c);
		else if (c < ' ')
			seq_buf_printf(json->out, "\\u%04x", c);
		else
			seq_buf_printf(json->out, "%c", c);
	}
	seq_buf_printf(json->out, "\"");
}

static void put_key(struct msix_json *json, const char *key)
{
	if (json->separate)
		seq_buf_printf(json->out, ", ");
	json->separate = true;
	if (key) {
		put_string(json, key);
		seq_buf_printf(json->out, ": ");
	}
}

/**
 * msix_json_open() - begin an object or an array
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @bracket: '{' or '['
 *
 * Context: any, like all functions here. None fails: what does not fit is told
 * by the buffer in the end.
 */
void msix_json_open(struct msix_json *json, const char *key, char bracket)
{
	put_key(json, key);
	seq_buf_printf(json->out, "%c", bracket);
	json->separate = false;
}

/**
 * msix_json_close() - end an object or an array
 * @json: the JSON
 * @bracket: '}' or ']'
 */
void msix_json_close(struct msix_json *json, char bracket)
{
	seq_buf_printf(json->out, "%c", bracket);
	json->separate = true;
}

/**
 * msix_json_text() - add a string
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: UTF-8, terminated
 */
void msix_json_text(struct msix_json *json, const char *key, const char *value)
{
	put_key(json, key);
	put_string(json, value);
}

/**
 * msix_json_number() - add a number
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: the number
 */
void msix_json_number(struct msix_json *json, const char *key, u64 value)
{
	put_key(json, key);
	seq_buf_printf(json->out, "%llu", value);
}

/**
 * msix_json_bool() - add true or false
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: which
 */
void msix_json_bool(struct msix_json *json, const char *key, bool value)
{
	put_key(json, key);
	seq_buf_printf(json->out, value ? "true" : "false");
}

/**
 * msix_json_null() - add null
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 */
void msix_json_null(struct msix_json *json, const char *key)
{
	put_key(json, key);
	seq_buf_printf(json->out, "null");
}
