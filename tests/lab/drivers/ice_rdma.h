/* SPDX-License-Identifier: GPL-2.0 */
/* What the stand-in ice tells the stand-in irdma about its ports. */
#ifndef ICE_RDMA_H
#define ICE_RDMA_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <net/devlink.h>

/**
 * struct ice_rdma_port - one function of the card
 * @entry: place in the list of ports
 * @netdev: the Ethernet interface of the port
 * @devlink: the devlink instance, pci/<BDF>
 * @roce: devlink parameter enable_roce
 * @iwarp: devlink parameter enable_iwarp
 */
struct ice_rdma_port {
	struct list_head entry;
	struct net_device *netdev;
	struct devlink *devlink;
	bool roce;
	bool iwarp;
};

/* Called for a port whose RDMA device is to appear (up) or to go (!up). */
typedef void (*ice_rdma_sync_t)(struct ice_rdma_port *port, bool up);

/* Called by irdma when it is loaded and when it is removed. */
void ice_rdma_attach(ice_rdma_sync_t sync);
void ice_rdma_detach(void);

/* Called by the Ethernet driver's probe and remove. */
void ice_rdma_add_port(struct pci_dev *pdev, struct net_device *netdev);
void ice_rdma_del_port(struct net_device *netdev);

#endif
