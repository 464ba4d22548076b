// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connectx3_driver.h"

#define DB_CONSUMER	0
#define DB_RECEIVE	64
#define FRAME_LIMIT	1518

struct driver *driver_start(enum cx3_blueflame_mode mode)
{
	struct driver *driver = calloc(1, sizeof(*driver));
	struct cx3 *cx3 = calloc(1, sizeof(*cx3));
	int ends[2];

	assert(driver && cx3);
	driver->cx3 = cx3;
	driver->memory_fd = client_memory(DRIVER_PAGES * DRIVER_PAGE);
	driver->memory = mmap(NULL, DRIVER_PAGES * DRIVER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      driver->memory_fd, 0);
	assert(driver->memory != MAP_FAILED);
	assert(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends));
	wire_init(&cx3->wire);
	assert(!wire_join(&cx3->wire, ends[0]));
	driver->wire = ends[1];
	cx3->blueflame_mode = mode;
	cx3->port.has_light = true;
	memcpy(cx3->mac, (const uint8_t[]){ 2, 0, 0, 0xc3, 0, 1 }, MAC_SIZE);
	cx3->vfu = cx3_create_device(cx3);
	assert(cx3->vfu);
	client_connect(&driver->client, cx3->vfu);
	assert(!client_version(&driver->client));
	assert(!client_map(&driver->client, DRIVER_BASE, DRIVER_PAGES * DRIVER_PAGE,
			   DMA_READABLE | DMA_WRITABLE, driver->memory_fd, 0));
	driver->interrupt = eventfd(0, EFD_NONBLOCK);
	assert(!client_set_irq(&driver->client, 0, driver->interrupt));
	return driver;
}

void driver_stop(struct driver *driver)
{
	client_disconnect(&driver->client);
	vfu_destroy(driver->cx3->vfu);
	cx3_icm_exit(driver->cx3);
	wire_exit(&driver->cx3->wire);
	close(driver->wire);
	close(driver->interrupt);
	munmap(driver->memory, DRIVER_PAGES * DRIVER_PAGE);
	close(driver->memory_fd);
	free(driver->cx3);
	free(driver);
}

unsigned int driver_command(struct driver *driver, unsigned int opcode, unsigned int modifier,
			    uint32_t in_modifier, uint64_t in_param)
{
	const uint64_t out = driver_address(MAILBOX_OUT);
	const be32 words[HCR_WORDS] = {
		to_be32(in_param >> 32), to_be32(in_param), to_be32(in_modifier),
		to_be32(out >> 32), to_be32(out), to_be32(0x1234 << HCR_TOKEN_SHIFT),
		to_be32(HCR_GO | modifier << HCR_OPMOD_SHIFT | opcode),
	};
	be32 status;

	for (unsigned int i = 0; i < HCR_WORDS; i++)
		assert(!client_write(&driver->client, REGISTER_BAR, HCR + i * sizeof(be32),
				     &words[i], sizeof(be32)));
	assert(!client_read(&driver->client, REGISTER_BAR, HCR + HCR_STATUS * sizeof(be32), &status,
			    sizeof(status)));
	assert(!(from_be32(status) & HCR_GO));
	return from_be32(status) >> HCR_STATUS_SHIFT;
}

static void must(struct driver *driver, unsigned int opcode, unsigned int modifier,
		 uint32_t in_modifier)
{
	assert(!driver_command(driver, opcode, modifier, in_modifier,
			       driver_address(MAILBOX_IN)));
}

/* An empty mailbox. */
static void *mailbox(struct driver *driver)
{
	return memset(driver_page(driver, MAILBOX_IN), 0, MAILBOX_SIZE);
}

static void give_translations(struct driver *driver)
{
	be64 *table = (void *)driver_page(driver, TRANSLATIONS);
	struct icm_chunk *chunk = mailbox(driver);
	be64 base = to_be64(ICM_TRANSLATIONS);
	uint8_t *hca;

	for (unsigned int i = 0; i < DRIVER_PAGES - QUEUES; i++)
		table[i] = to_be64(driver_address(QUEUES + i) | MTT_PRESENT);
	chunk->address = base;
	chunk->memory = to_be64(driver_address(TRANSLATIONS));
	must(driver, MAP_ICM, 0, 1);
	hca = mailbox(driver);
	hca[HCA_LOG_QPS] = 18;
	hca[HCA_LOG_CQS] = 16;
	hca[HCA_LOG_MPTS] = 19;
	memcpy(hca + HCA_MTT_BASE, &base, sizeof(base));
	must(driver, INIT_HCA, 0, 0);
}

static void make_queues(struct driver *driver)
{
	struct eq_context *eq = mailbox(driver);
	struct cq_context *cq;

	eq->log_size = LOG_ENTRIES;
	eq->mtt_low = to_be32(QUEUE_EVENTS * MTT_ENTRY_SIZE);
	must(driver, SW2HW_EQ, 0, DRIVER_EQN);
	assert(!driver_command(driver, MAP_EQ, 0, DRIVER_EQN, UINT64_MAX));
	cq = mailbox(driver);
	cq->log_size_and_uar = to_be32(LOG_ENTRIES << CQ_LOG_SIZE_SHIFT | DRIVER_UAR);
	cq->eqn = DRIVER_EQN;
	cq->mtt_low = to_be32(QUEUE_COMPLETIONS * MTT_ENTRY_SIZE);
	cq->doorbell_record = to_be64(driver_address(RECORDS) + DB_CONSUMER);
	must(driver, SW2HW_CQ, 0, DRIVER_CQN);
}

static void make_region(struct driver *driver, uint32_t index, bool is_physical)
{
	struct mpt_entry *entry = mailbox(driver);

	entry->key = to_be32(index);
	entry->pd_flags = to_be32(DRIVER_PD);
	entry->flags = to_be32(is_physical ? MPT_PHYSICAL : 0);
	entry->start = to_be64(is_physical ? 0 : REGION_ADDRESS);
	entry->length = to_be64(is_physical ? UINT64_MAX : DRIVER_PAGE);
	entry->mtt = to_be64(REGION * MTT_ENTRY_SIZE);
	entry->page_shift = to_be32(12);
	must(driver, SW2HW_MPT, 0, index);
}

/* Puts a context into the mailbox, for the caller to add to. */
static struct qp_context *describe_qp(struct driver *driver, enum driver_queue queue)
{
	struct qp_context *context = (void *)((uint8_t *)mailbox(driver) + 8);

	context->flags = to_be32(QP_SERVICE_RAW << QP_SERVICE_SHIFT);
	context->pd = to_be32(DRIVER_PD);
	context->uar = to_be32(DRIVER_UAR);
	context->send_cq = to_be32(DRIVER_CQN);
	context->receive_cq = to_be32(DRIVER_CQN);
	context->mtt_low = to_be32(queue * MTT_ENTRY_SIZE);
	context->doorbell_record =
		to_be64(driver_address(RECORDS) + DB_RECEIVE * (queue - QUEUE_SEND));
	context->sq_size_stride = LOG_SEND_BLOCK - QP_SMALLEST_STRIDE;
	return context;
}

static void make_ready(struct driver *driver, uint32_t qpn)
{
	must(driver, RST2INIT_QP, 0, qpn);
	must(driver, INIT2RTR_QP, 0, qpn);
	must(driver, RTR2RTS_QP, 0, qpn);
}

static void make_qps(struct driver *driver)
{
	/* The example of Microsoft's specification of RSS. */
	static const uint8_t key[RSS_KEY_SIZE] = {
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
		0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
		0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
		0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	};
	struct qp_context *context = describe_qp(driver, QUEUE_SEND);

	context->sq_size_stride |= LOG_ENTRIES << QP_LOG_SIZE_SHIFT;
	make_ready(driver, SEND_QPN);
	memset(driver_page(driver, QUEUES + QUEUE_SEND), 0xff, DRIVER_PAGE);
	for (unsigned int i = 0; i < 2; i++) {
		context = describe_qp(driver, QUEUE_RECEIVE + i);
		context->rq_size_stride = (LOG_ENTRIES - 1) << QP_LOG_SIZE_SHIFT;
		make_ready(driver, RECEIVE_QPN + i);
	}
	context = describe_qp(driver, QUEUE_SEND);
	context->flags = to_be32(QP_SERVICE_RAW << QP_SERVICE_SHIFT | QP_IS_RSS);
	context->rss_base = to_be32(1 << RSS_LOG_SIZE_SHIFT | RECEIVE_QPN);
	context->rss_base_udp = to_be32(RECEIVE_QPN);
	context->rss_default = to_be32(RECEIVE_QPN);
	context->rss_function = RSS_TOEPLITZ;
	context->rss_flags = RSS_IPV4 | RSS_TCP_IPV4 | RSS_UDP_IPV4 | RSS_IPV6 | RSS_TCP_IPV6;
	memcpy(context->rss_key, key, sizeof(key));
	make_ready(driver, SPREAD_QPN);
}

static void open_port(struct driver *driver)
{
	struct port_general *general = mailbox(driver);
	struct port_receivers *receivers;
	be64 *macs;

	general->valid = PORT_GENERAL_MTU;
	general->mtu = to_be16(FRAME_LIMIT + 4);
	must(driver, SET_PORT, PORT_SETTING_ETHERNET, PORT_GENERAL << PORT_SETTING_SHIFT | 1);
	receivers = mailbox(driver);
	receivers->base_qpn = to_be32(SPREAD_QPN);
	receivers->multicast = to_be32(1U << PORT_MULTICAST_SHIFT | RECEIVE_QPN);
	must(driver, SET_PORT, PORT_SETTING_ETHERNET, PORT_RECEIVERS << PORT_SETTING_SHIFT | 1);
	macs = mailbox(driver);
	macs[0] = to_be64(0x020000c30001 | MAC_VALID);
	must(driver, SET_PORT, PORT_SETTING_ETHERNET, PORT_MAC_TABLE << PORT_SETTING_SHIFT | 1);
	must(driver, INIT_PORT, 0, 1);
}

void driver_set_up(struct driver *driver)
{
	give_translations(driver);
	make_queues(driver);
	make_region(driver, PHYSICAL_KEY >> 8, true);
	make_region(driver, REGION_KEY >> 8, false);
	make_qps(driver);
	open_port(driver);
}

struct wqe_control *driver_put(struct driver *driver, uint32_t qpn, unsigned int opcode,
			       const void *segments, size_t size, uint32_t flags)
{
	uint8_t *queue = driver_page(driver, QUEUES + QUEUE_SEND);
	unsigned int slot = driver->posted % ENTRIES;
	struct wqe_control control = {
		.size = (sizeof(control) + size) / SEGMENT,
		.flags = to_be32(flags),
		.owner_opcode = to_be32((driver->posted & ENTRIES ? WQE_OWNER : 0) | opcode |
					(driver->posted & 0xffff) << BLUEFLAME_INDEX_SHIFT),
	};

	/* Tests do not let one go on at the beginning of the queue. */
	assert(slot * SEND_BLOCK + sizeof(control) + size <= DRIVER_PAGE);
	control.vlan = to_be16(qpn >> 8);
	control.insert_vlan = qpn;
	memcpy(queue + slot * SEND_BLOCK + sizeof(control), segments, size);
	memcpy(queue + slot * SEND_BLOCK, &control, sizeof(control));
	driver->posted += (sizeof(control) + size + SEND_BLOCK - 1) / SEND_BLOCK;
	return (void *)(queue + slot * SEND_BLOCK);
}

void driver_ring(struct driver *driver, uint32_t qpn)
{
	be32 value = to_be32(qpn << SEND_DOORBELL_QPN_SHIFT);

	assert(!client_write(&driver->client, UAR_BAR,
			     DRIVER_UAR * UAR_PAGE + UAR_SEND_DOORBELL, &value, sizeof(value)));
}

void driver_blueflame(struct driver *driver, const void *wqe, unsigned int half, size_t from,
		      size_t to)
{
	uint64_t start = BLUEFLAME_AREA + DRIVER_UAR * UAR_PAGE + half * BLUEFLAME_BUFFER;

	for (size_t at = from; at < to; at += 8)
		assert(!client_write(&driver->client, UAR_BAR, start + at,
				     (const uint8_t *)wqe + at, 8));
}

const struct completion *driver_completion(struct driver *driver)
{
	const struct completion *entry =
		(void *)(driver_page(driver, QUEUES + QUEUE_COMPLETIONS) +
			 driver->completed % ENTRIES * sizeof(*entry));
	bool owner = entry->opcode_and_owner & OWNER_BIT;
	be32 consumer;

	if (owner != !!(driver->completed & ENTRIES))
		return NULL;
	driver->completed++;
	consumer = to_be32(driver->completed);
	memcpy(driver_page(driver, RECORDS) + DB_CONSUMER, &consumer, sizeof(consumer));
	return entry;
}

const struct event *driver_event(struct driver *driver)
{
	const struct event *entry = (void *)(driver_page(driver, QUEUES + QUEUE_EVENTS) +
					     driver->events % ENTRIES * sizeof(*entry));
	uint64_t doorbell = DRIVER_EQN / UAR_EQS_PER_PAGE * UAR_PAGE + UAR_EQ_DOORBELLS;
	be32 value;

	if (!!(entry->owner & OWNER_BIT) != !!(driver->events & ENTRIES))
		return NULL;
	driver->events++;
	value = to_be32(driver->events | EQ_DOORBELL_ARM);
	assert(!client_write(&driver->client, UAR_BAR, doorbell, &value, sizeof(value)));
	return entry;
}

void driver_arm_cq(struct driver *driver)
{
	be32 words[2] = { to_be32(2 << 24 | DRIVER_CQN), to_be32(driver->completed) };

	assert(!client_write(&driver->client, UAR_BAR, DRIVER_UAR * UAR_PAGE + UAR_CQ_DOORBELL,
			     words, sizeof(words)));
}

void driver_give_buffer(struct driver *driver, enum driver_queue queue, unsigned int page)
{
	struct wqe_data segment = {
		.byte_count = to_be32(2048),
		.key = to_be32(PHYSICAL_KEY),
		.address = to_be64(driver_address(page)),
	};
	uint8_t *record = driver_page(driver, RECORDS) + DB_RECEIVE * (queue - QUEUE_SEND);
	be32 producer;

	memcpy(&producer, record, sizeof(producer));
	/* Behind the send queue, which is of one block. */
	memcpy(driver_page(driver, QUEUES + queue) + SEND_BLOCK +
		       from_be32(producer) % (ENTRIES / 2) * sizeof(segment),
	       &segment, sizeof(segment));
	producer = to_be32(from_be32(producer) + 1);
	memcpy(record, &producer, sizeof(producer));
}
