// SPDX-License-Identifier: GPL-2.0
/*
 * Sends ICMP echo requests of many sizes through an AF_XDP socket and compares
 * the answers that come in through it: both ways bypass the stack.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdp.h"

#define FRAME_SIZE 4096
#define FRAMES 256
#define RING_SIZE 128
/* The first half of the frames is for receiving, the first of the others for sending. */
#define SEND_FRAME ((__u64)RING_SIZE * FRAME_SIZE)
#define HEADERS (sizeof(struct ethhdr) + sizeof(struct iphdr) + sizeof(struct icmphdr))
#define LARGEST_PAYLOAD 1400
#define ANSWER_MS 20000

struct ring {
	__u32 *producer;
	__u32 *consumer;
	void *entries;
};

static unsigned char *umem;
static struct ring fill, completion, rx, tx;
static unsigned char own_mac[ETH_ALEN], peer_mac[ETH_ALEN];
static struct in_addr own_ip, peer_ip;

/* --- the program in the driver: all packets to the socket --- */

static int make_socket_map(int sock)
{
	__u32 queue = 0;
	union bpf_attr attr;
	int map;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_XSKMAP;
	attr.key_size = sizeof(__u32);
	attr.value_size = sizeof(__u32);
	attr.max_entries = 1;
	map = bpf(BPF_MAP_CREATE, &attr);

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (unsigned long)&queue;
	attr.value = (unsigned long)&sock;
	bpf(BPF_MAP_UPDATE_ELEM, &attr);
	return map;
}

static int load_redirect(int map)
{
	/* return bpf_redirect_map(map, 0, XDP_PASS) */
	const struct bpf_insn program[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_program(program, ARRAY_SIZE(program));
}

/* --- the socket --- */

static void set(int sock, int option, const void *value, socklen_t size)
{
	if (setsockopt(sock, SOL_XDP, option, value, size))
		err(1, "socket option %d", option);
}

static struct ring map_ring(int sock, const struct xdp_ring_offset *offsets,
			    size_t entry_size, off_t page)
{
	size_t size = offsets->desc + RING_SIZE * entry_size;
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, sock, page);

	if (base == MAP_FAILED)
		err(1, "mapping a ring");
	return (struct ring) {
		.producer = (__u32 *)(base + offsets->producer),
		.consumer = (__u32 *)(base + offsets->consumer),
		.entries = base + offsets->desc,
	};
}

static int make_socket(void)
{
	struct xdp_umem_reg reg = { .len = FRAMES * FRAME_SIZE, .chunk_size = FRAME_SIZE };
	struct xdp_mmap_offsets offsets;
	socklen_t size = sizeof(offsets);
	int count = RING_SIZE, sock;

	sock = socket(AF_XDP, SOCK_RAW, 0);
	umem = mmap(NULL, reg.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sock < 0 || umem == MAP_FAILED)
		err(1, "socket and memory");
	reg.addr = (unsigned long)umem;
	set(sock, XDP_UMEM_REG, &reg, sizeof(reg));
	set(sock, XDP_UMEM_FILL_RING, &count, sizeof(count));
	set(sock, XDP_UMEM_COMPLETION_RING, &count, sizeof(count));
	set(sock, XDP_RX_RING, &count, sizeof(count));
	set(sock, XDP_TX_RING, &count, sizeof(count));
	if (getsockopt(sock, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size))
		err(1, "offsets of the rings");
	fill = map_ring(sock, &offsets.fr, sizeof(__u64), XDP_UMEM_PGOFF_FILL_RING);
	completion = map_ring(sock, &offsets.cr, sizeof(__u64), XDP_UMEM_PGOFF_COMPLETION_RING);
	rx = map_ring(sock, &offsets.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
	tx = map_ring(sock, &offsets.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
	return sock;
}

static void give_frame(__u64 address)
{
	__u32 at = *fill.producer;

	((__u64 *)fill.entries)[at % RING_SIZE] = address;
	__atomic_store_n(fill.producer, at + 1, __ATOMIC_RELEASE);
}

/* --- packets --- */

static __u16 checksum(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	__u32 sum = 0;
	size_t i;

	for (i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static void make_request(unsigned char *packet, __u16 number, const void *payload, size_t size)
{
	struct ethhdr *eth = (struct ethhdr *)packet;
	struct iphdr *ip = (struct iphdr *)(eth + 1);
	struct icmphdr *icmp = (struct icmphdr *)(ip + 1);

	memset(packet, 0, HEADERS);
	memcpy(packet + HEADERS, payload, size);
	memcpy(eth->h_dest, peer_mac, ETH_ALEN);
	memcpy(eth->h_source, own_mac, ETH_ALEN);
	eth->h_proto = htons(ETH_P_IP);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tot_len = htons(sizeof(*ip) + sizeof(*icmp) + size);
	ip->ttl = 64;
	ip->protocol = IPPROTO_ICMP;
	ip->saddr = own_ip.s_addr;
	ip->daddr = peer_ip.s_addr;
	ip->check = checksum(ip, sizeof(*ip));
	icmp->type = ICMP_ECHO;
	icmp->un.echo.id = htons(getpid());
	icmp->un.echo.sequence = htons(number);
	icmp->checksum = checksum(icmp, sizeof(*icmp) + size);
}

static int is_answer(const unsigned char *packet, size_t size, __u16 number)
{
	const struct icmphdr *icmp = (const struct icmphdr *)(packet + HEADERS - sizeof(*icmp));
	const struct ethhdr *eth = (const struct ethhdr *)packet;

	return size >= HEADERS && eth->h_proto == htons(ETH_P_IP) &&
	       icmp->type == ICMP_ECHOREPLY && icmp->un.echo.sequence == htons(number);
}

static void send_packet(int sock, size_t size)
{
	__u32 at = *tx.producer;

	((struct xdp_desc *)tx.entries)[at % RING_SIZE] =
		(struct xdp_desc) { .addr = SEND_FRAME, .len = size };
	__atomic_store_n(tx.producer, at + 1, __ATOMIC_RELEASE);
	if (sendto(sock, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0)
		err(1, "sending");
}

static void wait_for(int sock)
{
	struct pollfd pollfd = { .fd = sock, .events = POLLIN };

	if (poll(&pollfd, 1, ANSWER_MS) != 1)
		errx(1, "no answer");
}

/* Other packets may come first, ARP for one; they are let go. */
static void receive_answer(int sock, __u16 number, const void *payload, size_t size)
{
	int found = 0;

	while (!found) {
		__u32 at = *rx.consumer;
		struct xdp_desc desc;

		if (at == __atomic_load_n(rx.producer, __ATOMIC_ACQUIRE)) {
			wait_for(sock);
			continue;
		}
		desc = ((struct xdp_desc *)rx.entries)[at % RING_SIZE];
		if (is_answer(umem + desc.addr, desc.len, number)) {
			found = 1;
			if (memcmp(umem + desc.addr + HEADERS, payload, size))
				errx(1, "the answer to %zu bytes has others", size);
		}
		__atomic_store_n(rx.consumer, at + 1, __ATOMIC_RELEASE);
		give_frame(desc.addr & ~(__u64)(FRAME_SIZE - 1));
	}
}

/* The frame may be used again only then. */
static void wait_until_sent(void)
{
	int tries = ANSWER_MS;

	while (*completion.consumer == __atomic_load_n(completion.producer, __ATOMIC_ACQUIRE)) {
		if (!tries--)
			errx(1, "a packet was never said to be sent");
		usleep(1000);
	}
	__atomic_store_n(completion.consumer, *completion.consumer + 1, __ATOMIC_RELEASE);
}

static void exchange(int sock, __u16 number, size_t size)
{
	unsigned char payload[LARGEST_PAYLOAD];
	size_t i;

	for (i = 0; i < size; i++)
		payload[i] = random();
	make_request(umem + SEND_FRAME, number, payload, size);
	send_packet(sock, HEADERS + size);
	receive_answer(sock, number, payload, size);
	wait_until_sent();
}

static void read_own_mac(const char *name)
{
	struct ifreq request;
	int sock = socket(AF_INET, SOCK_DGRAM, 0);

	memset(&request, 0, sizeof(request));
	snprintf(request.ifr_name, IFNAMSIZ, "%s", name);
	if (ioctl(sock, SIOCGIFHWADDR, &request))
		err(1, "%s", name);
	memcpy(own_mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	close(sock);
}

int main(int argc, char **argv)
{
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP };
	unsigned int i, size;
	int sock;

	if (argc != 6 || !inet_aton(argv[2], &own_ip) || !inet_aton(argv[3], &peer_ip) ||
	    sscanf(argv[4], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &peer_mac[0], &peer_mac[1],
		   &peer_mac[2], &peer_mac[3], &peer_mac[4], &peer_mac[5]) != 6)
		errx(2, "usage: af_xdp INTERFACE IP PEER_IP PEER_MAC copy|zerocopy");
	read_own_mac(argv[1]);
	address.sxdp_ifindex = if_nametoindex(argv[1]);
	address.sxdp_flags = strcmp(argv[5], "copy") ? XDP_ZEROCOPY : XDP_COPY;

	sock = make_socket();
	for (i = 0; i < RING_SIZE; i++)
		give_frame((__u64)i * FRAME_SIZE);
	attach_program(load_redirect(make_socket_map(sock)), address.sxdp_ifindex);
	if (bind(sock, (struct sockaddr *)&address, sizeof(address)))
		err(1, "bind");

	for (size = 1, i = 0; size <= LARGEST_PAYLOAD; size += 7, i++)
		exchange(sock, i, size);
	printf("%u answers\n", i);
	return 0;
}
