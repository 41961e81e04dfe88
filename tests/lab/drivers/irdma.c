// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Stand-in irdma, in the two forms that hosts have.
 *
 * Out-of-tree (default): has a version and load-time parameters. roce_ena decides
 * the mode of every port, and devlink is overridden.
 * In-kernel (-DIN_KERNEL): has neither. The mode follows devlink, per port.
 *
 * The RDMA device itself is the kernel's rxe (RoCEv2) or siw (iWARP). A user-mode
 * helper makes it, so that it appears some time after the load, as a card's does.
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include "ice_rdma.h"

#define RDMA_HELPER "/run/lab/rdma-sync.sh"

#ifdef IN_KERNEL

static char *wanted_mode(struct ice_rdma_port *port)
{
	if (port->roce)
		return "roce";
	return port->iwarp ? "iwarp" : "none";
}

MODULE_INFO(intree, "Y");

#else

static uint roce_ena;
module_param(roce_ena, uint, 0444);
MODULE_PARM_DESC(roce_ena, "RoCEv2 on all ports: 1=on, 0=iWARP (default)");

static uint limits_sel = 3;
module_param(limits_sel, uint, 0444);
MODULE_PARM_DESC(limits_sel, "Resource limits selector, 0-7 (default 3)");

/* A boolean: sysfs shows Y or N for what was given as 1 or 0. */
static bool dcqcn_enable;
module_param(dcqcn_enable, bool, 0444);
MODULE_PARM_DESC(dcqcn_enable, "DCQCN congestion control (default N)");

static char *wanted_mode(struct ice_rdma_port *port)
{
	return roce_ena ? "roce" : "iwarp";
}

MODULE_VERSION("1.11.16.6");

#endif

static void sync_port(struct ice_rdma_port *port, bool up)
{
	char *argv[] = { "/bin/sh", RDMA_HELPER, port->netdev->name,
			 up ? wanted_mode(port) : "none", NULL };
	char *envp[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int err;

	/*
	 * A deletion is waited for, so that no creation overtakes it. A creation is
	 * not: only until the helper runs, because argv lives on this stack.
	 */
	err = call_usermodehelper(argv[0], argv, envp, up ? UMH_WAIT_EXEC : UMH_WAIT_PROC);
	if (err)
		netdev_err(port->netdev, "irdma: %s ended with %d\n", RDMA_HELPER, err);
}

static int __init irdma_init(void)
{
	ice_rdma_attach(sync_port);
	return 0;
}

static void __exit irdma_exit(void)
{
	ice_rdma_detach();
}

module_init(irdma_init);
module_exit(irdma_exit);
/* What makes the devices must be there first. */
MODULE_SOFTDEP("pre: ib_uverbs rdma_ucm rdma_rxe siw");
MODULE_DESCRIPTION("Stand-in for the RDMA driver of Intel's E810");
MODULE_LICENSE("Dual BSD/GPL");
