/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plain model of what is in a pool, which the pool is held against. It knows
 * what pool.h promises, and nothing of how the pool keeps it.
 *
 * Also part of the module in selftests/pool, which runs on stock kernels.
 */
#ifndef _VDMA_POOL_MODEL_H
#define _VDMA_POOL_MODEL_H

#include <linux/prandom.h>
#include <linux/types.h>

#include "pool.h"

/* Buffers that one player holds at most. */
#define POOL_LIVE 256

/* Longest text that says what went wrong. */
#define POOL_ERROR_SIZE 160

/**
 * struct pool_live - a buffer that is allocated
 * @buffer: the buffer
 * @size: bytes asked for; 0 if there is no buffer
 * @held: bytes that it takes
 * @original: address of its original, made up
 * @mark: what it is marked with
 */
struct pool_live {
	struct vdma_buffer buffer;
	size_t size;
	size_t held;
	phys_addr_t original;
	u8 mark;
};

/**
 * struct pool_player - a user of the pool that makes random operations
 * @model: the model of the pool
 * @user: the user
 * @random: where its decisions come from
 * @live: its buffers
 * @held: bytes that they take
 * @refused: allocations that were refused with -ENOMEM or -EDQUOT
 * @error: the first thing that went wrong, or empty
 */
struct pool_player {
	struct pool_model *model;
	struct vdma_pool_user user;
	struct rnd_state random;
	struct pool_live live[POOL_LIVE];
	u64 held;
	u64 refused;
	char error[POOL_ERROR_SIZE];
};

struct pool_model *pool_model_create(struct vdma_pool *pool, size_t largest,
				     bool one_thread);
void pool_model_destroy(struct pool_model *model);

struct pool_player *pool_player_create(struct pool_model *model, u64 seed);
void pool_player_destroy(struct pool_player *player);
bool pool_player_move(struct pool_player *player);
bool pool_player_release_all(struct pool_player *player);
bool pool_player_whole_again(struct pool_player *player);

bool pool_model_race(struct pool_model *model, u64 seed, unsigned int moves,
		     u64 *refused, char *error);

#endif /* _VDMA_POOL_MODEL_H */
