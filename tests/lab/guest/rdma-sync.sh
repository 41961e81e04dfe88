# Makes or deletes the RDMA device of one port, for the stand-in irdma.
# usage: rdma-sync.sh NETDEV roce|iwarp|none
#
# A scenario turns these knobs at run time, in /run/lab/rdma.conf:
#   DELAY=SECONDS   the device appears that much later
#   NAME=NAME       ens1f0's device is called so
#   NEVER=1         no device appears
netdev=$1 mode=$2 dir=/run/lab/rdma
exec >>/run/lab/rdma-sync.log 2>&1
mkdir -p $dir
echo "$netdev $mode"

DELAY=0 NAME= NEVER=
[ -f /run/lab/rdma.conf ] && . /run/lab/rdma.conf

# Names as the first seed's host had them: both belong to one card.
case $netdev in
    ens1f0) name=${NAME:-rdmap2s0f0} ;;
    ens1f1) name=irdma1 ;;
    *) name=rdma_$netdev ;;
esac

# The order that came last counts: a delayed creation must not follow a deletion.
echo $$ >"$dir/$netdev.order"

if [ "$mode" = none ]; then
    exec 9>"$dir/$netdev.lock"
    flock 9
    # Only the device that was made here: one made by hand on the same port stays.
    [ -f "$dir/$netdev.made" ] && rdma link delete "$(cat "$dir/$netdev.made")"
    rm -f "$dir/$netdev.made"
    exit 0
fi

[ -n "$NEVER" ] && exit 0
[ "$DELAY" = 0 ] || sleep "$DELAY"
case $mode in roce) type=rxe ;; *) type=siw ;; esac
exec 9>"$dir/$netdev.lock"
flock 9
[ "$(cat "$dir/$netdev.order")" = $$ ] || exit 0
rdma link add "$name" type $type netdev "$netdev" && echo "$name" >"$dir/$netdev.made"
