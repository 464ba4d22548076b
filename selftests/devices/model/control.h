/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket: a person or a test asks a model for counters, and tells it to misbehave.
 *
 * A request is a line of words. The answer is any number of lines "NAME VALUE", then "ok", or one
 * line "error TEXT". Try it with  socat - UNIX-CONNECT:PATH
 *
 * Commands that every model has:
 *
 *	help			the commands
 *	counters		what the library counted, and the model
 *	violations		accesses to guest memory that could not be done, the first in full
 *	log on|off		write down every access; the file is given at start
 *	hang-up			leave the client, as a model does that is killed
 *	touch ADDRESS		read guest memory there, to see that a violation is noticed
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "vfu.h"

#define CONTROL_WORDS	8
#define CONTROL_LINE	256

/**
 * struct control_command - one that a model adds
 * @name: first word of the request
 * @help: the other words, and what it does
 * @run: gets all words, and where to write lines of the answer; returns NULL, or what was wrong
 */
struct control_command {
	const char *name;
	const char *help;
	const char *(*run)(void *model, int count, char **words, FILE *answer);
};

/**
 * struct control - a control socket
 * @device: whose counters are told
 * @model: for the callbacks
 * @commands: the model's own, ended by one without a name
 * @print_counters: writes the model's counters, a line "NAME VALUE" each
 * @log: where accesses are written to, or NULL
 * @listener: socket where somebody may connect
 * @client: the connection; one at a time
 * @line: the request so far
 * @length: of it
 */
struct control {
	struct vfu *device;
	void *model;
	const struct control_command *commands;
	void (*print_counters)(void *model, FILE *answer);
	FILE *log;
	int listener;
	int client;
	char line[CONTROL_LINE];
	size_t length;
};

/* The caller sets all members up to log. Returns 0 or a negative errno. */
int control_listen(struct control *control, const char *path);
void control_exit(struct control *control);

/* What to poll for POLLIN. */
int control_poll_fd(const struct control *control);

/* Answers what has come. */
void control_serve(struct control *control);

#endif
