// SPDX-License-Identifier: GPL-2.0
/* Names and encodings of memory types. */
#include <linux/kernel.h>

#include "memtype.h"

/* Bits 2:0 of an MTRR, a PAT entry and an EPT entry; UC- is a PAT's alone. */
static const u8 codes[GMT_ENCODED] = {
	[GMT_UC]	= 0,
	[GMT_WC]	= 1,
	[GMT_WT]	= 4,
	[GMT_WP]	= 5,
	[GMT_WB]	= 6,
	[GMT_UC_MINUS]	= 7,
};

#define CODE_RESERVED 2

static const char * const names[] = {
	[GMT_UC]	= "UC",
	[GMT_UC_MINUS]	= "UC-",
	[GMT_WC]	= "WC",
	[GMT_WT]	= "WT",
	[GMT_WP]	= "WP",
	[GMT_WB]	= "WB",
	[GMT_WC_PLUS]	= "WC+",
	[GMT_CD]	= "CD",
	[GMT_UNDEFINED]	= "undefined",
	[GMT_INVALID]	= "invalid",
};

/**
 * gmt_type_of_code() - the memory type that a register names
 * @code: the whole byte
 *
 * Intel SDM volume 3, "MTRR memory types" and "Memory types that can be encoded
 * with PAT".
 *
 * Context: any.
 * Return: the type, GMT_INVALID for a reserved code.
 */
enum gmt_type gmt_type_of_code(u8 code)
{
	enum gmt_type type;

	for (type = 0; type < GMT_ENCODED; type++)
		if (codes[type] == code)
			return type;
	return GMT_INVALID;
}

/**
 * gmt_code_of_type() - the opposite of gmt_type_of_code()
 * @type: any
 *
 * Context: any.
 * Return: what a register has for it; a reserved code if none can have it.
 */
u8 gmt_code_of_type(enum gmt_type type)
{
	return type < GMT_ENCODED ? codes[type] : CODE_RESERVED;
}

/**
 * gmt_type_name() - what the manuals call a type
 * @type: any
 *
 * Context: any.
 * Return: a string that stays.
 */
const char *gmt_type_name(enum gmt_type type)
{
	return type < ARRAY_SIZE(names) ? names[type] : "invalid";
}

/**
 * gmt_combines_writes() - does the CPU gather stores before it sends them?
 * @type: an effective type
 *
 * Context: any.
 * Return: true for WC and WC+.
 */
bool gmt_combines_writes(enum gmt_type type)
{
	return type == GMT_WC || type == GMT_WC_PLUS;
}
