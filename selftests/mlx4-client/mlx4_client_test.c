// SPDX-License-Identifier: GPL-2.0
/*
 * A client of mlx4_core beside mlx4_en: with a protection domain, memory region, completion queue,
 * BlueFlame register and queue pair of its own it posts work requests that do nothing, and one that
 * sends a frame. It does so while it is loaded, on the first card that mlx4_core drives.
 */
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/etherdevice.h>
#include <linux/mlx4/cq.h>
#include <linux/mlx4/device.h>
#include <linux/mlx4/doorbell.h>
#include <linux/mlx4/qp.h>
#include <linux/module.h>
#include <linux/pci.h>

static bool blueflame = true;
module_param(blueflame, bool, 0444);
MODULE_PARM_DESC(blueflame, "post by BlueFlame, not by the doorbell");

static uint nops = 100;
module_param(nops, uint, 0444);
MODULE_PARM_DESC(nops, "how many requests that do nothing; each 10th is signalled");

static bool wrong_key;
module_param(wrong_key, bool, 0444);
MODULE_PARM_DESC(wrong_key, "send from memory that the key does not allow; must complete with an error");

static uint completions;
module_param(completions, uint, 0444);
MODULE_PARM_DESC(completions, "how many there were (read only)");

#define SIGNALLED_EACH	10
#define RING_ENTRIES	64
#define WQE_SIZE	64
#define CQ_ENTRIES	64
/* Where the region begins for the card: not where its memory is. */
#define REGION_ADDRESS	0x10000000ULL
#define FRAME_LENGTH	100
/* IEEE 802: for experiments of whoever runs the network */
#define FRAME_TYPE	0x88b5
#define SERVICE_RAW	7
#define TIMEOUT		(30 * HZ)
#define OWNER		BIT(31)

struct client {
	struct mlx4_dev *dev;
	u32 pd;
	struct mlx4_bf bf;
	struct mlx4_hwq_resources cq_memory;
	struct mlx4_cq cq;
	struct mlx4_hwq_resources qp_memory;
	struct mlx4_qp qp;
	enum mlx4_qp_state state;
	struct mlx4_buf frame;
	struct mlx4_mr mr;
	u32 posted;
	struct completion arrived;
};

static void cq_arrived(struct mlx4_cq *cq)
{
	struct client *client = container_of(cq, struct client, cq);

	complete(&client->arrived);
}

static void ignore_cq_event(struct mlx4_cq *cq, enum mlx4_event event)
{
}

static void ignore_qp_event(struct mlx4_qp *qp, enum mlx4_event event)
{
}

static int create_cq(struct client *client)
{
	struct mlx4_hwq_resources *memory = &client->cq_memory;
	int size = CQ_ENTRIES * client->dev->caps.cqe_size;
	int err = mlx4_alloc_hwq_res(client->dev, memory, size);

	if (err)
		return err;
	client->cq.set_ci_db = memory->db.db;
	client->cq.arm_db = memory->db.db + 1;
	client->cq.usage = MLX4_RES_USAGE_DRIVER;
	*client->cq.set_ci_db = 0;
	*client->cq.arm_db = 0;
	err = mlx4_cq_alloc(client->dev, CQ_ENTRIES, &memory->mtt, client->bf.uar,
			    memory->db.dma, &client->cq, 0, 0, 0, &memory->buf, false);
	if (err)
		goto err_free;
	/* mlx4_cq_alloc() has them call a tasklet, and nothing arrives before the queue is armed */
	client->cq.comp = cq_arrived;
	client->cq.event = ignore_cq_event;
	return 0;

err_free:
	mlx4_free_hwq_res(client->dev, memory, size);
	return err;
}

static void destroy_cq(struct client *client)
{
	mlx4_cq_free(client->dev, &client->cq);
	mlx4_free_hwq_res(client->dev, &client->cq_memory,
			  CQ_ENTRIES * client->dev->caps.cqe_size);
}

static int make_ready(struct client *client)
{
	struct mlx4_qp_context context = {
		.flags = cpu_to_be32(SERVICE_RAW << 16),
		.pd = cpu_to_be32(client->pd),
		.mtu_msgmax = 0xff,
		.sq_size_stride = ilog2(RING_ENTRIES) << 3 | (ilog2(WQE_SIZE) - 4),
		.usr_page = cpu_to_be32(mlx4_to_hw_uar_index(client->dev, client->bf.uar->index)),
		.local_qpn = cpu_to_be32(client->qp.qpn),
		.pri_path.sched_queue = 0x83,
		.cqn_send = cpu_to_be32(client->cq.cqn),
		.cqn_recv = cpu_to_be32(client->cq.cqn),
	};

	client->state = MLX4_QP_STATE_RST;
	return mlx4_qp_to_ready(client->dev, &client->qp_memory.mtt, &context, &client->qp,
				&client->state);
}

static int create_qp(struct client *client)
{
	struct mlx4_dev *dev = client->dev;
	int number, err;

	err = mlx4_alloc_hwq_res(dev, &client->qp_memory, RING_ENTRIES * WQE_SIZE);
	if (err)
		return err;
	/* All is the driver's at first. */
	memset(client->qp_memory.buf.direct.buf, 0xff, RING_ENTRIES * WQE_SIZE);
	err = mlx4_qp_reserve_range(dev, 1, 1, &number, MLX4_RESERVE_ETH_BF_QP,
				    MLX4_RES_USAGE_DRIVER);
	if (err)
		goto err_memory;
	err = mlx4_qp_alloc(dev, number, &client->qp);
	if (err)
		goto err_number;
	client->qp.event = ignore_qp_event;
	err = make_ready(client);
	if (!err)
		return 0;
	mlx4_qp_remove(dev, &client->qp);
	mlx4_qp_free(dev, &client->qp);
err_number:
	mlx4_qp_release_range(dev, number, 1);
err_memory:
	mlx4_free_hwq_res(dev, &client->qp_memory, RING_ENTRIES * WQE_SIZE);
	return err;
}

static void destroy_qp(struct client *client)
{
	struct mlx4_dev *dev = client->dev;

	mlx4_qp_modify(dev, NULL, client->state, MLX4_QP_STATE_RST, NULL, 0, 0, &client->qp);
	mlx4_qp_remove(dev, &client->qp);
	mlx4_qp_free(dev, &client->qp);
	mlx4_qp_release_range(dev, client->qp.qpn, 1);
	mlx4_free_hwq_res(dev, &client->qp_memory, RING_ENTRIES * WQE_SIZE);
}

/* A region in pages of its own, at an address of its own. */
static int create_region(struct client *client)
{
	struct mlx4_dev *dev = client->dev;
	int err = mlx4_buf_alloc(dev, PAGE_SIZE, PAGE_SIZE, &client->frame);

	if (err)
		return err;
	err = mlx4_mr_alloc(dev, client->pd, REGION_ADDRESS, PAGE_SIZE, MLX4_PERM_LOCAL_READ,
			    client->frame.npages, client->frame.page_shift, &client->mr);
	if (err)
		goto err_memory;
	err = mlx4_buf_write_mtt(dev, &client->mr.mtt, &client->frame);
	if (!err)
		err = mlx4_mr_enable(dev, &client->mr);
	if (!err)
		return 0;
	mlx4_mr_free(dev, &client->mr);
err_memory:
	mlx4_buf_free(dev, PAGE_SIZE, &client->frame);
	return err;
}

static void destroy_region(struct client *client)
{
	mlx4_mr_free(client->dev, &client->mr);
	mlx4_buf_free(client->dev, PAGE_SIZE, &client->frame);
}

/* The segments behind the control segment are there; hands the request over. */
static void post(struct client *client, u32 opcode, u32 segments, bool is_signalled)
{
	u32 slot = client->posted % RING_ENTRIES;
	struct mlx4_wqe_ctrl_seg *control = client->qp_memory.buf.direct.buf + slot * WQE_SIZE;
	u32 owner = client->posted & RING_ENTRIES ? OWNER : 0;

	control->qpn_vlan.bf_qpn = cpu_to_be32(client->qp.qpn << 8 | segments);
	control->srcrb_flags = cpu_to_be32(is_signalled ? MLX4_WQE_CTRL_CQ_UPDATE : 0);
	control->imm = 0;
	/* The card must see all of it before it sees that it is its own. */
	dma_wmb();
	control->owner_opcode = cpu_to_be32(owner | opcode | (client->posted & 0xffff) << 8);
	/* The request must be in memory before the card looks there. */
	wmb();
	if (blueflame) {
		__iowrite64_copy(client->bf.reg + client->bf.offset, control, WQE_SIZE / 8);
		/* The next write to this half must not join this one. */
		wmb();
		client->bf.offset ^= client->bf.buf_size;
	} else {
		__raw_writel((__force u32)cpu_to_be32(client->qp.qpn << 8),
			     client->bf.uar->map + MLX4_SEND_DOORBELL);
	}
	client->posted++;
}

/* What the next completion says, in whose place it is waited for. Returns a negative errno. */
static int wait_for_completion_entry(struct client *client)
{
	u32 index = client->cq.cons_index;
	void *entry = client->cq_memory.buf.direct.buf +
		      (index % CQ_ENTRIES) * client->dev->caps.cqe_size;
	struct mlx4_cqe *cqe = entry + client->dev->caps.cqe_size - sizeof(*cqe);

	reinit_completion(&client->arrived);
	mlx4_cq_arm(&client->cq, MLX4_CQ_DB_REQ_NOT, client->bf.uar->map, NULL);
	if (!wait_for_completion_timeout(&client->arrived, TIMEOUT))
		return -ETIMEDOUT;
	if (!!(READ_ONCE(cqe->owner_sr_opcode) & MLX4_CQE_OWNER_MASK) !=
	    !!(index & CQ_ENTRIES))
		return -ENODATA;
	/* Nothing of the entry may be read before its owner. */
	dma_rmb();
	client->cq.cons_index++;
	mlx4_cq_set_ci(&client->cq);
	completions++;
	return cqe->owner_sr_opcode & MLX4_CQE_OPCODE_MASK;
}

static int post_nops(struct client *client)
{
	u32 i;

	for (i = 1; i <= nops; i++) {
		bool is_signalled = i % SIGNALLED_EACH == 0;
		int opcode;

		post(client, MLX4_OPCODE_NOP, 1, is_signalled);
		if (!is_signalled)
			continue;
		opcode = wait_for_completion_entry(client);
		if (opcode)
			return opcode < 0 ? opcode : -EIO;
	}
	return 0;
}

static int send_frame(struct client *client)
{
	u32 slot = client->posted % RING_ENTRIES;
	void *wqe = client->qp_memory.buf.direct.buf + slot * WQE_SIZE;
	struct mlx4_wqe_data_seg *data = wqe + sizeof(struct mlx4_wqe_ctrl_seg);
	struct ethhdr *frame = client->frame.direct.buf;
	int opcode;

	eth_broadcast_addr(frame->h_dest);
	memset(frame->h_source, 2, ETH_ALEN);
	frame->h_proto = htons(FRAME_TYPE);
	data->byte_count = cpu_to_be32(FRAME_LENGTH);
	data->lkey = cpu_to_be32(client->mr.key);
	data->addr = cpu_to_be64(REGION_ADDRESS + (wrong_key ? PAGE_SIZE : 0));
	post(client, MLX4_OPCODE_SEND, 2, true);
	opcode = wait_for_completion_entry(client);
	if (opcode < 0)
		return opcode;
	return (opcode == MLX4_CQE_OPCODE_ERROR) == wrong_key ? 0 : -EIO;
}

static int run(struct client *client)
{
	struct mlx4_dev *dev = client->dev;
	int err = mlx4_pd_alloc(dev, &client->pd);

	if (err)
		return err;
	err = mlx4_bf_alloc(dev, &client->bf, NUMA_NO_NODE);
	if (err)
		goto err_pd;
	err = create_cq(client);
	if (err)
		goto err_bf;
	err = create_qp(client);
	if (err)
		goto err_cq;
	err = create_region(client);
	if (err)
		goto err_qp;
	err = post_nops(client);
	if (!err)
		err = send_frame(client);
	destroy_region(client);
err_qp:
	destroy_qp(client);
err_cq:
	destroy_cq(client);
err_bf:
	mlx4_bf_free(dev, &client->bf);
err_pd:
	mlx4_pd_free(dev, client->pd);
	return err;
}

/* From 6.7 on a client of mlx4_core is known to it by name; so this one asks the PCI device. */
static struct mlx4_dev *device_of(struct pci_dev *pdev)
{
	struct mlx4_dev_persistent *persist = pci_get_drvdata(pdev);

	if (!pdev->dev.driver || strcmp(pdev->dev.driver->name, "mlx4_core") || !persist)
		return NULL;
	return persist->dev;
}

static int __init mlx4_client_test_init(void)
{
	struct pci_dev *pdev = pci_get_device(PCI_VENDOR_ID_MELLANOX, 0x1003, NULL);
	struct client *client;
	int err = -ENODEV;

	if (!pdev)
		return err;
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client) {
		err = -ENOMEM;
		goto out_device;
	}
	init_completion(&client->arrived);
	/* The driver stays bound meanwhile. */
	device_lock(&pdev->dev);
	client->dev = device_of(pdev);
	if (client->dev)
		err = run(client);
	device_unlock(&pdev->dev);
	pr_info("%s: %u requests, %u completions, result %d\n", pci_name(pdev), client->posted,
		completions, err);
	kfree(client);
out_device:
	pci_dev_put(pdev);
	return err;
}

static void __exit mlx4_client_test_exit(void)
{
}

module_init(mlx4_client_test_init);
module_exit(mlx4_client_test_exit);

MODULE_DESCRIPTION("Test client of mlx4_core");
MODULE_LICENSE("GPL");
