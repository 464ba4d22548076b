/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON (RFC 8259) into a buffer. All of it is here and inline, since the leaf modules
 * share no object.
 */
#ifndef _DRIVERS_JSON_H
#define _DRIVERS_JSON_H

#include <linux/seq_buf.h>
#include <linux/types.h>

/**
 * struct json - JSON that is being written
 * @out: where to; seq_buf_has_overflowed() tells whether it has all fitted
 * @separate: the next member or element has one before it
 */
struct json {
	struct seq_buf *out;
	bool separate;
};

/* seq_buf_printf() is the one function of its kind that all kernels export. */
static inline void json_put_string(struct json *json, const char *text)
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

static inline void json_put_key(struct json *json, const char *key)
{
	if (json->separate)
		seq_buf_printf(json->out, ", ");
	json->separate = true;
	if (key) {
		json_put_string(json, key);
		seq_buf_printf(json->out, ": ");
	}
}

/**
 * json_open() - begin an object or an array
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @bracket: '{' or '['
 *
 * Context: any, like all functions here. None fails: what does not fit is told
 * by the buffer in the end.
 */
static inline void json_open(struct json *json, const char *key, char bracket)
{
	json_put_key(json, key);
	seq_buf_printf(json->out, "%c", bracket);
	json->separate = false;
}

/**
 * json_close() - end an object or an array
 * @json: the JSON
 * @bracket: '}' or ']'
 */
static inline void json_close(struct json *json, char bracket)
{
	seq_buf_printf(json->out, "%c", bracket);
	json->separate = true;
}

/**
 * json_text() - add a string
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: UTF-8, terminated
 */
static inline void json_text(struct json *json, const char *key, const char *value)
{
	json_put_key(json, key);
	json_put_string(json, value);
}

/**
 * json_number() - add a number
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: the number
 */
static inline void json_number(struct json *json, const char *key, u64 value)
{
	json_put_key(json, key);
	seq_buf_printf(json->out, "%llu", value);
}

/**
 * json_bool() - add true or false
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 * @value: which
 */
static inline void json_bool(struct json *json, const char *key, bool value)
{
	json_put_key(json, key);
	seq_buf_printf(json->out, value ? "true" : "false");
}

/**
 * json_null() - add null
 * @json: the JSON
 * @key: its name in the object that it is in, or NULL
 */
static inline void json_null(struct json *json, const char *key)
{
	json_put_key(json, key);
	seq_buf_printf(json->out, "null");
}

#endif /* _DRIVERS_JSON_H */
