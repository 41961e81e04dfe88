#!/bin/busybox sh
# First program of the guest, in the initramfs: puts the machine's own file system, read-only
# under a tmpfs overlay, at the root, and goes on with init.sh there.
B=/bin/busybox
$B mount -t proc proc /proc
$B mount -t sysfs sysfs /sys
$B mount -t devtmpfs dev /dev
for module in $($B cat /modules/order); do $B insmod /modules/$module; done
$B mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host || {
    echo "lab: the machine's file system could not be mounted over 9p"
    $B poweroff -f
}
$B mount -t tmpfs tmpfs /top
$B mkdir /top/upper /top/work
$B mount -t overlay -o lowerdir=/host,upperdir=/top/upper,workdir=/top/work root /root
$B mount -t tmpfs tmpfs /root/run
$B mkdir /root/run/lab
$B cp /lab/* /root/run/lab/
for dir in proc sys dev; do $B mount --move /$dir /root/$dir; done
exec $B switch_root /root /bin/bash /run/lab/init.sh
