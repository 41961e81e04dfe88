# Brings a guest back to the state after boot, whatever a scenario did to it.
# usage: reset.sh [IRDMA_PARAMETER=VALUE ...]
# The lab looks afterwards whether it worked, so failures here only go to stderr.
. /run/lab/lab.env
ports="ens1f0 ens1f1"

rm -f /run/lab/rdma.conf
command -v nft >/dev/null && nft flush ruleset
rm -rf /etc/roce-setup /var/lib/roce-setup /run/roce-setup /var/log/roce-setup

# Never with `modprobe -r`: it would take ice and the interfaces along.
[ -d /sys/module/irdma ] && rmmod irdma
rmdir /sys/kernel/config/rdma_cm/* 2>/dev/null
for device in $(ls /sys/class/infiniband 2>/dev/null); do rdma link delete "$device"; done
modprobe -a rdma_rxe siw rdma_ucm ib_uverbs

[ -d /sys/module/netdevsim ] && rmmod netdevsim
for dir in /sys/class/net/*; do
    case ${dir##*/} in
        lo | ens1f0 | ens1f1 | bonding_masters) ;;
        *) ip link delete "${dir##*/}" ;;
    esac
done
for port in $ports; do
    ip addr flush dev $port scope global
    ip neigh flush dev $port
    ip route flush dev $port
    [ "$(cat /sys/class/net/$port/mtu)" = 1500 ] || ip link set $port mtu 1500
    ip link set $port up
done

if [ "$SET" = debian ]; then
    # Loaded along with Debian's irdma; no port of this guest is theirs.
    for module in ice i40e; do [ -d /sys/module/$module ] && rmmod $module; done
    exit 0
fi
for port in $ports; do
    bdf=pci/$(basename "$(readlink /sys/class/net/$port/device)")
    # Off before on: the driver refuses both at once.
    devlink dev param set $bdf name enable_iwarp value false cmode runtime
    devlink dev param set $bdf name enable_roce value true cmode runtime
done
# siw takes a port's state when its device is made, and does not follow the carrier later.
for try in $(seq 100); do
    [ "$(cat /sys/class/net/ens1f0/carrier)$(cat /sys/class/net/ens1f1/carrier)" = 11 ] && break
    sleep 0.1
done
modprobe irdma "$@"
