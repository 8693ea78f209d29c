# Bandwidth of each rail between neighbours, by ib_write_bw; then the latency of MPI, by osu_latency.
# Settings: mpirun; rails; link, as the kernel names it; gbps, the threshold of a rail; two, options
# that start one rank on each of two hosts.

need ib_write_bw "add the package perftest to the runtime's image"

# index_of_gid DEVICE: RoCE needs the address that routes, InfiniBand none.
index_of_gid() {
  local port=/sys/class/infiniband/$1/ports/1 type index
  for type in "$port"/gid_attrs/types/*; do
    index=${type##*/}
    [[ $(cat "$type" 2> /dev/null) == "RoCE v2" ]] || continue
    [[ $(cat "$port/gids/$index") == 0000:0000:0000:0000:0000:ffff:* ]] && echo "$index" && return
  done
}

# figure: the average of ib_write_bw, the fourth of five numbers in its last row.
figure() {
  local line gap='[[:space:]]+' number='[0-9]+([.][0-9]+)?' average=none
  while read -r line; do
    [[ $line =~ ^[0-9]+$gap[0-9]+$gap$number$gap($number)$gap$number$ ]] && average=${BASH_REMATCH[2]}
  done
  echo "$average"
}

# rail NUMBER ROUND PEER: as a client where there is a peer, else as its server.
rail() {
  local number=$1 peer=$2 net device type gid options log try
  net=$(echo /sys/class/net/net$((number + 1))/device/infiniband/*)
  device=${net##*/}
  if [[ $device == '*' ]]; then
    echo "trainyard-rail $HOSTNAME $number none none none"
    return
  fi
  type=$(cat "/sys/class/infiniband/$device/ports/1/link_layer")
  options=(-d "$device" -p $((18515 + number)) -F --report_gbits -D 5)
  gid=$(index_of_gid "$device")
  [[ $type != Ethernet || -z $gid ]] || options+=(-x "$gid")
  if [[ -z $peer ]]; then
    timeout 90 ib_write_bw "${options[@]}" > /dev/null
    return
  fi
  log=$(mktemp)
  for ((try = 0; try < 30; try++)); do
    timeout 60 ib_write_bw "${options[@]}" "$peer" > "$log" 2>&1 && break
    sleep 1
  done
  cat "$log" >&2
  echo "trainyard-rail $HOSTNAME $number $device $type $(figure < "$log")"
}

# Of each pair the first writes; no host is in two pairs of a round.
pairs() {
  local round=$1 rails=$2 count i number of peer
  shift 2
  first_of_host || return 0
  count=$#
  local names=("$@")
  for ((i = 0; i < count; i++)); do
    of=$((i % 2))
    ((count % 2 && i == count - 1)) && of=2
    ((of == round)) || continue
    peer=${names[(i + 1) % count]}
    for ((number = 0; number < rails; number++)); do
      [[ ${names[i]%%.*} != "$HOSTNAME" ]] || rail "$number" "$peer" &
      [[ ${peer%%.*} != "$HOSTNAME" ]] || rail "$number" "" &
    done
  done
  wait
}

declare -A bandwidth=() link_of=()
for round in 0 1 2; do
  while read -r word host number device type figure; do
    [[ $word == trainyard-rail ]] || continue
    bandwidth[$host $number]=$figure link_of[$host $number]=$type
  done < <(on_each pairs "$round" "$rails" "${hosts[@]}")
done
for ((i = 0; i < ${#hosts[@]}; i++)); do
  name=${hosts[i]%%.*} next=${hosts[(i + 1) % ${#hosts[@]}]%%.*}
  for ((number = 0; number < rails; number++)); do
    type=${link_of[$name $number]:-none}
    [[ $type == "$link" ]] || row "rail $number" "$name" "$type" "$link" "FAILED: the rail's device"
    at_least "rail $number" "$name to $next" "${bandwidth[$name $number]:-none}" "$gbps" Gb/s
  done
done

# The image may lack the OSU benchmarks.
if command -v osu_latency > /dev/null; then
  latency=none tcp=''
  read -ra options <<< "$two"
  while read -r line; do
    [[ $line =~ ^8[[:space:]]+([0-9.]+)$ ]] && latency=${BASH_REMATCH[1]}
    [[ $line == *UCX*[\(\ ]tcp/* ]] && tcp=$line
  done < <("$mpirun" "${options[@]}" env UCX_LOG_LEVEL=info osu_latency -m 8:8 2>&1 | tee >(cat >&2))
  at_least "latency, 8 bytes" "two hosts" "$latency" "" us
  [[ -z $tcp ]] || row "transport of MPI" "two hosts" TCP "" "FAILED: not the rails"
fi
finish
