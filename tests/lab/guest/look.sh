# Says, one fact a line and always in the same order, the state that reset.sh promises.
for module in ice irdma; do
    [ -d /sys/module/$module ] && echo "module $module $(cat /sys/module/$module/initstate)"
done
for parameter in roce_ena limits_sel; do
    file=/sys/module/irdma/parameters/$parameter
    [ -f $file ] && echo "irdma $parameter=$(cat $file)"
done
for dir in /sys/class/net/*; do
    port=${dir##*/}
    [ "$port" = lo ] && continue
    carrier=$(cat "$dir/carrier" 2>/dev/null || echo down)
    addresses=$(ip -o addr show dev "$port" scope global | awk '{ print " " $4 }' | sort | tr -d '\n')
    echo "port $port mtu $(cat "$dir/mtu") carrier $carrier addresses${addresses:- none}"
done
rdma link show | sort | while read -r _ device _ state _ _ _ netdev _; do
    device=${device%/*}
    read -r type <"/sys/class/infiniband/$device/node_type"
    echo "rdma $device on $netdev node_type $type state $state"
done
