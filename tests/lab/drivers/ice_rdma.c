// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the stand-in ice that an E810 has and an e1000e has not: a devlink
 * instance per port with the exclusive parameters enable_roce and enable_iwarp,
 * the E810's versions, and a list of ports for irdma to follow.
 *
 * The Ethernet part is Debian's own e1000e, built under the name ice.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "ice_rdma.h"

#define ICE_FIRMWARE "3.20 0x8000d84c 1.3146.0"

static LIST_HEAD(ports);
static DEFINE_MUTEX(ports_lock);	/* the list, the modes and the follower */
static ice_rdma_sync_t follower;	/* irdma, while it is loaded */

static void tell_follower(struct ice_rdma_port *port, bool up)
{
	if (follower)
		follower(port, up);
}

void ice_rdma_attach(ice_rdma_sync_t sync)
{
	struct ice_rdma_port *port;

	mutex_lock(&ports_lock);
	follower = sync;
	list_for_each_entry(port, &ports, entry)
		tell_follower(port, true);
	mutex_unlock(&ports_lock);
}
EXPORT_SYMBOL_GPL(ice_rdma_attach);

void ice_rdma_detach(void)
{
	struct ice_rdma_port *port;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, entry)
		tell_follower(port, false);
	follower = NULL;
	mutex_unlock(&ports_lock);
}
EXPORT_SYMBOL_GPL(ice_rdma_detach);

static struct ice_rdma_port *port_of(struct devlink *devlink)
{
	return *(struct ice_rdma_port **)devlink_priv(devlink);
}

static bool *mode_of(struct ice_rdma_port *port, u32 id)
{
	return id == DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE ? &port->roce : &port->iwarp;
}

static int mode_get(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	ctx->val.vbool = *mode_of(port_of(devlink), id);
	return 0;
}

/* As on an E810: the RDMA device is unplugged, and plugged again in the new mode. */
static int mode_set(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	struct ice_rdma_port *port = port_of(devlink);

	mutex_lock(&ports_lock);
	tell_follower(port, false);
	*mode_of(port, id) = ctx->val.vbool;
	tell_follower(port, true);
	mutex_unlock(&ports_lock);
	return 0;
}

/* The two refusals an administrator meets, in the driver's own words. */
static int mode_validate(struct devlink *devlink, u32 id, union devlink_param_value val,
			 struct netlink_ext_ack *extack)
{
	struct ice_rdma_port *port = port_of(devlink);

	if (!val.vbool)
		return 0;
	if (id == DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE && port->iwarp) {
		NL_SET_ERR_MSG_MOD(extack, "iWARP is currently enabled. This device cannot enable iWARP and RoCEv2 simultaneously");
		return -EOPNOTSUPP;
	}
	if (id == DEVLINK_PARAM_GENERIC_ID_ENABLE_IWARP && port->roce) {
		NL_SET_ERR_MSG_MOD(extack, "RoCEv2 is currently enabled. This device cannot enable iWARP and RoCEv2 simultaneously");
		return -EOPNOTSUPP;
	}
	return 0;
}

static const struct devlink_param mode_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_RUNTIME),
			      mode_get, mode_set, mode_validate),
	DEVLINK_PARAM_GENERIC(ENABLE_IWARP, BIT(DEVLINK_PARAM_CMODE_RUNTIME),
			      mode_get, mode_set, mode_validate),
};

static int info_get(struct devlink *devlink, struct devlink_info_req *req,
		    struct netlink_ext_ack *extack)
{
	static const struct {
		const char *name;
		const char *version;
	} running[] = {
		{ "fw.mgmt", "6.2.9" },
		{ "fw.app.name", "ICE OS Default Package" },
		{ "fw.app", "1.3.30.0" },
		{ "fw", ICE_FIRMWARE },
	};
	int err = devlink_info_driver_name_put(req, "ice");
	size_t i;

	for (i = 0; !err && i < ARRAY_SIZE(running); i++)
		err = devlink_info_version_running_put(req, running[i].name, running[i].version);
	return err;
}

static const struct devlink_ops ice_devlink_ops = {
	.info_get = info_get,
};

/* A port without devlink still is an Ethernet port: failures are logged, not fatal. */
void ice_rdma_add_port(struct pci_dev *pdev, struct net_device *netdev)
{
	struct ice_rdma_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int err;

	if (!port)
		return;
	port->netdev = netdev;
	port->roce = true;
	port->devlink = devlink_alloc(&ice_devlink_ops, sizeof(port), &pdev->dev);
	if (!port->devlink) {
		kfree(port);
		return;
	}
	*(struct ice_rdma_port **)devlink_priv(port->devlink) = port;
	err = devlink_params_register(port->devlink, mode_params, ARRAY_SIZE(mode_params));
	if (err) {
		dev_err(&pdev->dev, "devlink parameters: error %d\n", err);
		devlink_free(port->devlink);
		kfree(port);
		return;
	}
	devlink_register(port->devlink);

	mutex_lock(&ports_lock);
	list_add_tail(&port->entry, &ports);
	tell_follower(port, true);
	mutex_unlock(&ports_lock);
}

void ice_rdma_del_port(struct net_device *netdev)
{
	struct ice_rdma_port *port, *next, *gone = NULL;

	mutex_lock(&ports_lock);
	list_for_each_entry_safe(port, next, &ports, entry) {
		if (port->netdev != netdev)
			continue;
		tell_follower(port, false);
		list_del(&port->entry);
		gone = port;
	}
	mutex_unlock(&ports_lock);
	if (!gone)
		return;
	/* Outside the lock: a devlink set in flight holds the instance and wants the lock. */
	devlink_unregister(gone->devlink);
	devlink_params_unregister(gone->devlink, mode_params, ARRAY_SIZE(mode_params));
	devlink_free(gone->devlink);
	kfree(gone);
}
