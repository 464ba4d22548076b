/* SPDX-License-Identifier: GPL-2.0 */
/* JSON (RFC 8259) into a buffer. */
#ifndef _MSIX_PBA_JSON_H
#define _MSIX_PBA_JSON_H

#include <linux/seq_buf.h>
#include <linux/types.h>

/**
 * struct msix_json - JSON that is being written
 * @out: where to; seq_buf_has_overflowed() tells whether it has all fitted
 * @separate: the next member or element has one before it
 */
struct msix_json {
	struct seq_buf *out;
	bool separate;
};

void msix_json_open(struct msix_json *json, const char *key, char bracket);
void msix_json_close(struct msix_json *json, char bracket);
void msix_json_text(struct msix_json *json, const char *key, const char *value);
void msix_json_number(struct msix_json *json, const char *key, u64 value);
void msix_json_bool(struct msix_json *json, const char *key, bool value);
void msix_json_null(struct msix_json *json, const char *key);

#endif /* _MSIX_PBA_JSON_H */
