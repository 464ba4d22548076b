// SPDX-License-Identifier: GPL-2.0
/*
 * What comes out when several parties name a memory type.
 *
 * Intel: SDM volume 3, "Effective page-level memory types" and "EPT and memory
 * typing". AMD: APM volume 2, tables 7-11, 15-19 and 15-20.
 */
#include "resolve.h"

/* Order of the columns, as of the rows where they are by PAT type. */
#define COLUMNS(uc, uc_minus, wc, wt, wp, wb) { \
	[GMT_UC] = GMT_##uc, [GMT_UC_MINUS] = GMT_##uc_minus, [GMT_WC] = GMT_##wc, \
	[GMT_WT] = GMT_##wt, [GMT_WP] = GMT_##wp, [GMT_WB] = GMT_##wb }

/* By the type of the MTRR, or of the EPT entry; and by that of the PAT. */
static const enum gmt_type intel[GMT_ENCODED][GMT_ENCODED] = {
	[GMT_UC]	= COLUMNS(UC, UC, WC, UC, UC, UC),
	[GMT_UC_MINUS]	= COLUMNS(INVALID, INVALID, INVALID, INVALID, INVALID, INVALID),
	[GMT_WC]	= COLUMNS(UC, WC, WC, UC, UC, WC),
	[GMT_WT]	= COLUMNS(UC, UC, WC, WT, WP, WT),
	[GMT_WP]	= COLUMNS(UC, WC, WC, WT, WP, WP),
	[GMT_WB]	= COLUMNS(UC, UC, WC, WT, WP, WB),
};

/* By the type of the guest's PAT; and by that of the host's, as the nested page table chooses. */
static const enum gmt_type amd_guest_host[GMT_ENCODED][GMT_ENCODED] = {
	[GMT_UC]	= COLUMNS(UC, UC, UC, UC, UC, UC),
	[GMT_UC_MINUS]	= COLUMNS(UC, UC_MINUS, WC, UC, UC, UC),
	[GMT_WC]	= COLUMNS(WC, WC, WC, WC_PLUS, WC_PLUS, WC_PLUS),
	[GMT_WT]	= COLUMNS(UC, UC, UC, WT, UC, WT),
	[GMT_WP]	= COLUMNS(UC, UC, UC, UC, WP, WP),
	[GMT_WB]	= COLUMNS(UC, UC, WC, WT, WP, WB),
};

/* By what the step before gives, or without nesting the PAT; and by the type of the host's MTRR. */
static const enum gmt_type amd_mtrr[GMT_WC_PLUS + 1][GMT_ENCODED] = {
	[GMT_UC]	= COLUMNS(UC, INVALID, CD, CD, CD, CD),
	[GMT_UC_MINUS]	= COLUMNS(UC, INVALID, WC, CD, CD, CD),
	[GMT_WC]	= COLUMNS(WC, INVALID, WC, WC, WC, WC),
	[GMT_WT]	= COLUMNS(UC, INVALID, CD, WT, CD, WT),
	[GMT_WP]	= COLUMNS(UC, INVALID, CD, CD, WP, WP),
	[GMT_WB]	= COLUMNS(UC, INVALID, WC, WT, WP, WB),
	[GMT_WC_PLUS]	= COLUMNS(WC, INVALID, WC, WC_PLUS, WC_PLUS, WC_PLUS),
};

/* What no register can hold is passed through: who asked gets to see why there is no answer. */
static enum gmt_type look_up(const enum gmt_type table[][GMT_ENCODED],
			     enum gmt_type rows, enum gmt_type row, enum gmt_type column)
{
	if (row >= rows)
		return row;
	if (column >= GMT_ENCODED)
		return column;
	return table[row][column];
}

/**
 * gmt_intel_native() - the effective type on an Intel CPU without virtualization
 * @mtrr: type of the MTRR
 * @pat: type that the page asks for
 *
 * Context: any.
 * Return: the effective type; GMT_UNDEFINED or GMT_INVALID if an argument is.
 */
enum gmt_type gmt_intel_native(enum gmt_type mtrr, enum gmt_type pat)
{
	return look_up(intel, GMT_ENCODED, mtrr, pat);
}

/**
 * gmt_intel_nested() - the effective type in a guest on an Intel CPU
 * @entry: entry of the nested page table
 * @guest_pat: type that the guest's page asks for
 * @paging: the guest's CR0.PG
 * @cache_disabled: CR0.CD as the CPU has it; KVM never lets it be set
 *
 * The nested page table takes the place of the MTRRs: neither the host's nor the
 * guest's count.
 *
 * Context: any.
 * Return: the effective type, GMT_INVALID for an entry that ends in an EPT
 * misconfiguration.
 */
enum gmt_type gmt_intel_nested(struct gmt_ept_entry entry, enum gmt_type guest_pat,
			       bool paging, bool cache_disabled)
{
	enum gmt_type type = gmt_type_of_code(entry.code);

	if (type == GMT_INVALID || type == GMT_UC_MINUS)
		return GMT_INVALID;
	if (cache_disabled)
		return GMT_UC;
	if (entry.ignore_pat)
		return type;
	return gmt_intel_native(type, paging ? guest_pat : GMT_WB);
}

/**
 * gmt_amd_native() - the effective type on an AMD CPU without virtualization
 * @mtrr: type of the MTRR
 * @pat: type that the page asks for
 *
 * Context: any.
 * Return: the effective type; GMT_UNDEFINED or GMT_INVALID if an argument is.
 */
enum gmt_type gmt_amd_native(enum gmt_type mtrr, enum gmt_type pat)
{
	return look_up(amd_mtrr, GMT_ENCODED, pat, mtrr);
}

/**
 * gmt_amd_nested() - the effective type in a guest on an AMD CPU with nested paging
 * @guest_pat: type that the guest's page asks for, by the PAT in the VMCB
 * @host_pat: type that the nested page table asks for, by the host's PAT
 * @host_mtrr: type of the host's MTRR; there are none for guests
 *
 * Context: any.
 * Return: the effective type; GMT_UNDEFINED or GMT_INVALID if an argument is.
 */
enum gmt_type gmt_amd_nested(enum gmt_type guest_pat, enum gmt_type host_pat,
			     enum gmt_type host_mtrr)
{
	enum gmt_type both = look_up(amd_guest_host, GMT_ENCODED, guest_pat, host_pat);

	return look_up(amd_mtrr, GMT_WC_PLUS + 1, both, host_mtrr);
}
