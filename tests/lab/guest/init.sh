# Process 1 of a guest: prepares it as a Debian host would be after its start, then runs the
# agent. Everything here that belongs to one guest comes from lab.env.
. /run/lab/lab.env    # NODE SET AGENT TREE PRODUCT
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

end() { echo "lab: $*"; sync; echo o >/proc/sysrq-trigger; sleep 10; }

mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t configfs configfs /sys/kernel/config 2>/dev/null || modprobe configfs
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
hostname "server$NODE"
printf '127.0.0.1 localhost\n127.0.1.1 server%s\n' "$NODE" >/etc/hosts
ip link set lo up
# A file of the machine may not be readable by others on its way (a home of mode 0700), so
# the program under test also stands where everybody can run it.
[ -z "$PRODUCT" ] || install -m 755 "$PRODUCT" /usr/local/bin/roce-setup

version=$(uname -r)
# What is in updates/ wins over Debian's modules of the same names.
rm -rf "/lib/modules/$version/updates"
cp -a "$TREE"/updates "$TREE"/modules.* "/lib/modules/$version/"
# With MSI-X, the emulated card does not report a change of its link after the first.
msi=IntMode=1,1
if [ "$SET" = debian ]; then modprobe e1000e $msi; else modprobe ice $msi; fi
modprobe -a rdma_rxe rdma_ucm ib_uverbs || end "Debian's RDMA modules did not load"
modprobe siw || end "siw did not load"

# The ports by their addresses, because the order in which they appear is not promised.
for try in $(seq 50); do
    ports=0
    for dir in /sys/class/net/*; do
        read -r mac <"$dir/address"
        case $mac in
            52:54:00:00:*:0[01])
                name=ens1f${mac##*:0}
                [ "${dir##*/}" = "$name" ] || ip link set "${dir##*/}" name "$name"
                ip link set "$name" up
                ports=$((ports + 1))
                ;;
        esac
    done
    [ $ports = 2 ] && break
    sleep 0.1
done
[ $ports = 2 ] || end "only $ports of 2 ports appeared"

# siw takes a port's state when its device is made, and does not follow the carrier later.
for try in $(seq 100); do
    [ "$(cat /sys/class/net/ens1f0/carrier)$(cat /sys/class/net/ens1f1/carrier)" = 11 ] && break
    sleep 0.1
done
[ "$SET" = debian ] || modprobe irdma

"$AGENT" agent
end "the agent ended with $?"
